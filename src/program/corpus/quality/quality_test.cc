#include "program/corpus/quality/quality.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/json.h"
#include "program/corpus/quality/quality_report.h"

namespace perfcast::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Three platforms of four servers; program "a" has the platform's time exactly, "b" differs between servers.
Corpus corpus() {
  Corpus result;
  result.sources = {{"s", "u", "CC0", "", ""}};
  for (int p = 0; p < 3; ++p) {
    Platform platform;
    platform.id = "p" + std::to_string(p);
    platform.name = "P" + std::to_string(p);
    platform.source = "s";
    result.platforms.push_back(platform);
  }
  for (const char* id : {"a", "b", "c"}) {
    Program program;
    program.id = program.family = id;
    program.group = std::string(id) == "c" ? "os" : "user";
    result.programs.push_back(program);
  }
  result.programs[2].excluded = "no-work: none";
  for (int p = 0; p < 3; ++p) {
    for (int s = 0; s < 4; ++s) {
      const std::string server = "v/" + std::to_string(p) + std::to_string(s);
      result.runs.push_back({"a", "p" + std::to_string(p), server, 1, std::exp(p), std::nullopt, "s"});
      // Servers 0 and 2 are half a, 1 and 3 half b; on the last platform half b takes 1.5 times as long.
      const double time_s = std::exp(p) * (p == 2 && s % 2 == 1 ? 1.5 : 1);
      result.runs.push_back({"b", "p" + std::to_string(p), server, 1, time_s, std::nullopt, "s"});
    }
  }
  StoredProfile stored;
  stored.program = "a";
  stored.profile.host.name = "P1";
  stored.profile.metrics["cpu_s"] = 20;
  stored.profile.work_units = 10;
  result.profiles = {stored};
  result.exclusions = {{"s", "server", "shared", 7}};
  return result;
}

TEST(QualityTest, CountsWhatIsThere) {
  const QualityCard card = check_quality(corpus());
  EXPECT_EQ(card.platforms_count, 3);
  EXPECT_EQ(card.runs_count, 24);
  EXPECT_EQ(card.profiles_count, 1);
  EXPECT_EQ(card.platforms_below_three_servers_count, 0);
  EXPECT_EQ(card.near_duplicate_servers_count, 9);
  ASSERT_EQ(card.groups.size(), 2u);
  EXPECT_EQ(card.groups[0].group, "os");
  EXPECT_EQ(card.groups[0].excluded_count, 1);
  EXPECT_EQ(card.groups[0].coverage_ratio, 0);
  EXPECT_EQ(card.groups[1].programs_count, 2);
  EXPECT_EQ(card.groups[1].with_profile_count, 1);
  EXPECT_EQ(card.groups[1].coverage_ratio, 1);
  EXPECT_EQ(card.programs[0].platforms_count, 3);
  EXPECT_THAT(card.programs[0].threads, ElementsAre(1));
}

TEST(QualityTest, MeasuresTheNoiseFloor) {
  const QualityCard card = check_quality(corpus());
  EXPECT_EQ(card.programs[0].noise_mape_ratio, 0);
  // Half b of "b" is 1.5 times on one of three platforms: centred, its errors are 1.5^(2/3) and twice 1.5^(-1/3).
  const double expected = ((std::pow(1.5, 2.0 / 3) - 1) + 2 * (1 - std::pow(1.5, -1.0 / 3))) / 3;
  EXPECT_NEAR(*card.programs[1].noise_mape_ratio, expected, 1e-12);
  ASSERT_EQ(card.noise.size(), 2u);
  EXPECT_EQ(card.noise[0].group, "user");
  EXPECT_EQ(card.noise[1].group, "all");
  EXPECT_EQ(card.noise[0].entries_count, 6);
  EXPECT_NEAR(card.noise[0].mape_ratio, expected / 2, 1e-12);
  EXPECT_EQ(card.noise[0].pair_order, 1);
  const double error = std::log(1.5);
  const double squares = error * error * (4.0 / 9 + 2.0 / 9);
  EXPECT_NEAR(*card.noise[0].r2_log, 1 - squares / 4, 1e-12);  // each row spreads by 1 + 0 + 1
}

TEST(QualityTest, ComparesProfilesWithTheirHostsLabel) {
  const QualityCard card = check_quality(corpus());
  EXPECT_EQ(card.programs[0].host_platform, "p1");
  EXPECT_NEAR(*card.programs[0].host_label_ratio, 2 / std::exp(1.0), 1e-12);
  EXPECT_EQ(card.programs[1].host_label_ratio, std::nullopt);
  EXPECT_THAT(to_text(card), HasSubstr("1 of 1 profiles are over 25 % off"));
}

TEST(QualityTest, FindsTheHostsPlatformByGeneration) {
  Corpus one = corpus();
  HostFacts& host = one.profiles[0].profile.host;
  host = {};
  host.name = "Hidden";
  host.arch = "x86_64";
  host.cpu_family = 6;
  host.model = 85;
  for (Platform& platform : one.platforms) platform.arch = "x86_64";
  EXPECT_EQ(check_quality(one).programs[0].host_platform, "");
  one.platforms[0].cpu_family = 6;
  one.platforms[0].model = 85;
  EXPECT_EQ(check_quality(one).programs[0].host_platform, "p0");
  one.platforms[2].cpu_family = 6;
  one.platforms[2].model = 85;
  EXPECT_EQ(check_quality(one).programs[0].host_platform, "");  // two of that generation
  one.platforms[2].name = "Hidden (family 6 model 85)";
  EXPECT_EQ(check_quality(one).programs[0].host_platform, "p2");
}

TEST(QualityTest, FindsOutliersAndEqualPrograms) {
  Corpus one = corpus();
  for (int i = 0; i < 30; ++i) {
    const std::string server = "w/" + std::to_string(i);
    one.runs.push_back({"a", "p0", server, 1, 1 + 0.001 * i, std::nullopt, "s"});
    one.runs.push_back({"c", "p0", server, 1, 1 + 0.001 * i, std::nullopt, "s"});
  }
  one.runs.push_back({"a", "p0", "w/odd", 1, 9, std::nullopt, "s"});
  const QualityCard card = check_quality(one);
  EXPECT_EQ(card.outliers_count, 1);
  EXPECT_EQ(card.outliers_compared_count, 35 + 30);
  ASSERT_EQ(card.outlier_servers.size(), 1u);
  EXPECT_EQ(card.outlier_servers[0].name, "w/odd");
  ASSERT_EQ(card.equal_programs.size(), 1u);
  EXPECT_EQ(card.equal_programs[0].a, "a");
  EXPECT_EQ(card.equal_programs[0].b, "c");
  EXPECT_EQ(card.equal_programs[0].equal_share, 1);
}

TEST(QualityTest, AnEmptyCorpusHasACardToo) {
  const QualityCard card = check_quality(Corpus());
  EXPECT_EQ(card.runs_count, 0);
  ASSERT_EQ(card.noise.size(), 1u);
  EXPECT_EQ(card.noise[0].entries_count, 0);
  EXPECT_FALSE(card.noise[0].r2_log.has_value());
  EXPECT_EQ(to_json(card)["noise_floor"][0].count("r2_log"), 0u);
  EXPECT_TRUE(std::isnan(card.noise[0].mape_ratio));
  EXPECT_EQ(to_json(card)["noise_floor"][0].count("mape_ratio"), 0u);
  EXPECT_THAT(to_text(card), HasSubstr("profiles were not compared with labels: there are none\n"));
}

// As a user's own table: one time for each program and platform. One of them was noted in milliseconds.
TEST(QualityTest, FindsTheOddTimeOfATable) {
  Corpus table;
  const double of_platform[] = {1, 1.3, 0.8, 2, 1.1};
  for (int p = 0; p < 5; ++p) table.platforms.emplace_back().id = "p" + std::to_string(p);
  for (int i = 0; i < 6; ++i) {
    Program program;
    program.id = program.family = "program" + std::to_string(i);
    table.programs.push_back(program);
    for (int p = 0; p < 5; ++p) {
      auto& run = table.runs.emplace_back();
      run.program = program.id;
      run.platform = "p" + std::to_string(p);
      run.threads = 1;
      run.time_s = (1 + i) * of_platform[p] * (1 + 0.01 * ((3 * i + p) % 4));  // within 3%
    }
  }
  EXPECT_EQ(check_quality(table).odd_times_count, 0);
  EXPECT_THAT(to_text(check_quality(table)), HasSubstr("\n0 of 30 times are odd"));
  table.runs[2 * 5 + 3].time_s *= 1000;
  const QualityCard card = check_quality(table);
  EXPECT_EQ(card.odd_compared_count, 30);
  ASSERT_EQ(card.odd_times.size(), 1u);
  EXPECT_EQ(card.odd_times[0].program, "program2");
  EXPECT_EQ(card.odd_times[0].platform, "p3");
  EXPECT_NEAR(card.odd_times[0].expected_s, 6, 0.36);  // the noise of 3%, on either side
  EXPECT_NEAR(card.odd_times[0].ratio(), 1000, 60);
  EXPECT_EQ(to_json(card)["odd_times"][0]["program"], "program2");
  std::erase_if(table.programs, [](const Program& program) { return program.id > "program2"; });
  EXPECT_EQ(check_quality(table).odd_compared_count, 0);  // three programs are too few
  EXPECT_THAT(to_text(check_quality(table)), HasSubstr("odd times were not looked for: that takes 4 programs"));
}

// As a user's own table: one time for each program and platform, and counters without units of work.
TEST(QualityTest, SaysWhatCouldNotBeChecked) {
  Corpus one = corpus();
  std::erase_if(one.runs, [](const auto& run) { return !run.server.ends_with("0"); });
  one.profiles[0].profile.work_units.reset();
  const QualityCard card = check_quality(one);
  EXPECT_EQ(card.runs_count, 6);
  EXPECT_EQ(card.outliers_compared_count, 0);
  EXPECT_EQ(card.programs[0].host_platform, "p1");
  const std::string text = to_text(card);
  EXPECT_THAT(text, HasSubstr("\nnoise floor: not known; it takes two platforms"));
  EXPECT_THAT(text, HasSubstr("\noutliers were not looked for: no program has 5 runs on one platform"));
  EXPECT_THAT(
      text,
      HasSubstr("not compared with labels: the hosts of 1 of 1 are platforms of the corpus, but none of these has"));
  one.profiles[0].profile.host.name = "elsewhere";
  EXPECT_THAT(to_text(check_quality(one)), HasSubstr("no profile's host is a platform of the corpus\n"));
  // One group is known, the other is not.
  one = corpus();
  one.programs[2].excluded.clear();
  for (int p = 0; p < 3; ++p) one.runs.push_back({"c", "p" + std::to_string(p), "v/0", 1, 2, std::nullopt, "s"});
  EXPECT_THAT(to_text(check_quality(one)), HasSubstr("\n-: not known, as no program of the group"));
}

TEST(QualityTest, JsonHoldsTheSchemaFirstAndTheReasons) {
  const Json json = to_json(check_quality(corpus()));
  EXPECT_EQ(json.begin().key(), "schema");
  EXPECT_EQ(json["schema"], "perfcast.corpus.check/1");
  EXPECT_EQ(json["excluded"][0]["count"], 7);
  EXPECT_EQ(json["programs"][2]["excluded"], "no-work: none");
  EXPECT_EQ(json["programs"][1].count("host_label_ratio"), 0u);
  const Json info = info_json(corpus());
  EXPECT_EQ(info.begin().key(), "schema");
  EXPECT_EQ(info["schema"], "perfcast.corpus.info/1");
  EXPECT_EQ(info["sources"][0]["licence"], "CC0");
  EXPECT_EQ(info["sources"][0]["runs_count"], 24);
  EXPECT_EQ(info["platforms"].size(), 3u);
}

}  // namespace
}  // namespace perfcast::program
