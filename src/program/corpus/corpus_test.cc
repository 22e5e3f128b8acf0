#include "program/corpus/corpus.h"

#include <gmock/gmock.h>

#include <cmath>

namespace perfcast::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Platform platform(const std::string& id, const std::string& name) {
  Platform result;
  result.id = id;
  result.name = name;
  return result;
}

Program program(const std::string& id, const std::string& group = "user") {
  Program result;
  result.id = result.family = id;
  result.group = group;
  return result;
}

StoredProfile profile(const std::string& program_id, double instructions = 1) {
  StoredProfile result;
  result.program = program_id;
  result.profile.metrics["instructions_count"] = instructions;
  return result;
}

Run run(const std::string& program_id, const std::string& platform_id, const std::string& server, double time_s,
        int64_t threads = 1) {
  Run result;
  result.program = program_id;
  result.platform = platform_id;
  result.server = server;
  result.time_s = time_s;
  result.threads = threads;
  return result;
}

Corpus two_by_two() {
  Corpus corpus;
  corpus.platforms = {platform("p", "Plain P"), platform("q", "Quick Q")};
  corpus.programs = {program("a"), program("b", "os")};
  corpus.profiles = {profile("a", 10), profile("a", 11), profile("b", 20)};
  corpus.runs = {run("a", "p", "v/1", 1),
                 run("a", "p", "v/2", std::exp(1.0)),
                 run("a", "p", "v/3", std::exp(4.0)),
                 run("a", "q", "v/4", 3),
                 run("b", "p", "v/1", 7),
                 run("a", "p", "v/1", 100, 0)};
  return corpus;
}

std::vector<std::string> ids(const std::vector<Program>& programs) {
  std::vector<std::string> result;
  result.reserve(programs.size());
  for (const Program& one : programs) result.push_back(one.id);
  return result;
}

TEST(CorpusTest, LooksUpById) {
  const Corpus corpus = two_by_two();
  ASSERT_NE(corpus.find_platform("q"), nullptr);
  EXPECT_EQ(corpus.find_platform("q")->name, "Quick Q");
  EXPECT_EQ(corpus.find_platform("Quick Q"), nullptr);
  EXPECT_EQ(corpus.find_program("b")->group, "os");
  EXPECT_EQ(corpus.find_program("c"), nullptr);
}

TEST(CorpusTest, SlugsNames) {
  EXPECT_EQ(slug("AMD EPYC 7763 64-Core Processor"), "amd-epyc-7763-64-core-processor");
  EXPECT_EQ(slug("Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz"), "intel-xeon-platinum-8370c-cpu-2-80ghz");
  EXPECT_EQ(slug("Core(TM)2"), "core-2");
  EXPECT_EQ(slug("  "), "");
}

TEST(CorpusTest, ListsFeatureFlagsAsPlatformsDo) {
  EXPECT_EQ(platform_flag("avx512f"), "avx512f");
  EXPECT_EQ(platform_flag("amx_bf16"), "amx");
  EXPECT_EQ(platform_flag("sha_ni"), "sha");
  EXPECT_EQ(platform_flag("sha2"), "sha");
  EXPECT_EQ(platform_flag("fpu"), "");
}

TEST(CorpusTest, TellsPlatformsOfOneNameApart) {
  std::vector<Platform> platforms = {platform("1", "Xeon"),  platform("2", "Xeon"), platform("3", "Xeon"),
                                     platform("4", "Other"), platform("5", "Bare"), platform("6", "Bare")};
  platforms[0].cpu_family = platforms[1].cpu_family = platforms[2].cpu_family = 6;
  platforms[0].model = 79;
  platforms[1].model = platforms[2].model = 85;
  platforms[1].stepping = 4;
  platforms[2].stepping = 7;
  make_platform_names_unique(platforms);
  std::vector<std::string> names;
  names.reserve(platforms.size());
  for (const Platform& one : platforms) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("Xeon (family 6 model 79)", "Xeon (family 6 model 85 stepping 4)",
                                 "Xeon (family 6 model 85 stepping 7)", "Other", "Bare (5)", "Bare (6)"));
}

TEST(TrainingTableTest, FoldsServersToMedians) {
  const auto table = make_training_table(two_by_two(), {});
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(ids(table->programs), ElementsAre("a", "b"));
  EXPECT_EQ(table->profiles[0].metrics.at("instructions_count"), 10);  // the first stored
  // "q" is measured on one of two programs, below the smallest coverage.
  ASSERT_EQ(table->platforms.size(), 1u);
  const PlatformTime& time = *table->at(0, 0);
  EXPECT_DOUBLE_EQ(time.log_time, 1);
  EXPECT_EQ(time.servers, 3);
  EXPECT_DOUBLE_EQ(time.log_spread, 1.4826);  // deviations 1, 0, 3
  EXPECT_DOUBLE_EQ(time.half_a, 2);           // servers 1 and 3
  EXPECT_DOUBLE_EQ(time.half_b, 1);           // server 2
  EXPECT_EQ(table->at(1, 0)->servers, 1);
  EXPECT_TRUE(std::isnan(table->at(1, 0)->log_spread));
  EXPECT_TRUE(std::isnan(table->at(1, 0)->half_a));
}

TEST(TrainingTableTest, AServerMeasuredTwiceCountsOnce) {
  Corpus corpus = two_by_two();
  corpus.runs = {run("a", "p", "v/1", std::exp(1.0)), run("a", "p", "v/1", std::exp(3.0)), run("a", "p", "v/2", 1),
                 run("b", "p", "", 1), run("b", "p", "", 1)};
  const auto table = make_training_table(corpus, {});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->at(0, 0)->servers, 2);
  EXPECT_DOUBLE_EQ(table->at(0, 0)->log_time, 1);  // of 2 and 0
  EXPECT_EQ(table->at(1, 0)->servers, 2);          // unnamed servers stand for themselves
}

TEST(TrainingTableTest, HalvesDoNotDependOnTheOrderOfRuns) {
  Corpus corpus = two_by_two();
  const auto before = make_training_table(corpus, {});
  std::reverse(corpus.runs.begin(), corpus.runs.end());
  const auto after = make_training_table(corpus, {});
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_EQ(before->at(0, 0)->half_a, after->at(0, 0)->half_a);
  EXPECT_EQ(before->at(0, 0)->half_b, after->at(0, 0)->half_b);
}

TEST(TrainingTableTest, PublishedMeansArePooledByCount) {
  Corpus corpus = two_by_two();
  corpus.runs = {run("a", "p", "ob/1-socket", std::exp(1.0)), run("a", "p", "ob/2-socket", std::exp(2.0)),
                 run("b", "p", "ob/1-socket", 1), run("a", "q", "ob/1-socket", 1)};
  for (auto& one : corpus.runs) one.results_count = 1;
  corpus.runs[0].results_count = 3;
  corpus.runs[0].spread_ratio = std::sqrt(std::expm1(0.04));  // 0.2 of log time
  corpus.runs[2].results_count = 100;
  const auto table = make_training_table(corpus, {});
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->platforms.size(), 1u);
  const PlatformTime& pooled = *table->at(0, 0);
  EXPECT_DOUBLE_EQ(pooled.log_time, 1.25);
  EXPECT_EQ(pooled.servers, 2);
  EXPECT_EQ(pooled.results, 4);
  // Two degrees of freedom within the first, one between the two.
  const double variance = (2 * 0.04 + 3 * 0.0625 + 0.5625) / 3;
  EXPECT_NEAR(pooled.log_spread, std::sqrt(variance), 1e-12);
  // The program's typical variance is the cell's own; beyond it, what hosts differ by.
  EXPECT_NEAR(pooled.log_error, std::hypot(std::sqrt(variance / 4), 0.014), 1e-12);
  EXPECT_TRUE(pooled.drawn_halves);
  EXPECT_NEAR(pooled.half_a + pooled.half_b, 2 * 1.25, 1e-12);
  EXPECT_NE(pooled.half_a, pooled.half_b);
  // Without a deviation of its own or its program's: that of the other programs.
  const PlatformTime& single = *table->at(1, 0);
  EXPECT_TRUE(std::isnan(single.log_spread));
  EXPECT_NEAR(single.log_error, std::hypot(std::sqrt(variance / 100), 0.014), 1e-12);
  std::reverse(corpus.runs.begin(), corpus.runs.end());
  EXPECT_EQ(make_training_table(corpus, {})->at(0, 0)->half_a, pooled.half_a);
}

TEST(TrainingTableTest, ErrorsOfServersFollowFromTheirSpread) {
  const auto table = make_training_table(two_by_two(), {});
  ASSERT_TRUE(table.ok());
  // Three servers, deviation 1.4826; the median's error is larger than a mean's.
  EXPECT_NEAR(table->at(0, 0)->log_error, 1.4826 * std::sqrt(M_PI / 2 / 3), 1e-12);
  EXPECT_FALSE(table->at(0, 0)->drawn_halves);
  EXPECT_NEAR(table->at(1, 0)->log_error, 1.4826, 1e-12);  // one server: what the other program shows
  EXPECT_TRUE(std::isnan(table->at(1, 0)->half_a));
}

TEST(TrainingTableTest, TimesSayWhatKindOfSourceGaveThem) {
  Corpus corpus = two_by_two();
  for (auto& run : corpus.runs) run.source = run.program == "a" ? "cloud@1" : "crowd";
  corpus.runs[1].source = "cloud@2";
  corpus.runs[2].source = "crowd";  // one of three servers
  corpus.programs.push_back(program("c"));
  corpus.runs.push_back(run("c", "q", "v/4", 1));
  corpus.runs.back().source = "scores";
  TableOptions all;
  all.minimum_coverage = 0;
  const auto table = make_training_table(corpus, all);
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(table->sources, ElementsAre("cloud", "crowd", "scores"));
  EXPECT_EQ(table->at(0, 0)->source, 0u);
  EXPECT_EQ(table->at(1, 0)->source, 1u);
  EXPECT_EQ(table->companion_times[1]->source, 2u);
  EXPECT_EQ(table->with_programs({1}).sources, table->sources);
  EXPECT_EQ(table->with_platforms({1}).sources, table->sources);
}

TEST(TrainingTableTest, PlatformsBySegmentAndByNumberOfPrograms) {
  Corpus corpus = two_by_two();
  corpus.platforms[0].segment = "cloud";
  corpus.platforms[1].segment = "desktop";
  TableOptions options;
  options.minimum_programs = 1;
  EXPECT_EQ(make_training_table(corpus, options)->platforms.size(), 2u);
  options.minimum_programs = 2;
  EXPECT_EQ(make_training_table(corpus, options)->platforms.size(), 1u);
  options.minimum_programs = 1;
  options.segments = {"desktop", "server"};
  const auto desktop = make_training_table(corpus, options);
  ASSERT_TRUE(desktop.ok());
  ASSERT_EQ(desktop->platforms.size(), 1u);
  EXPECT_EQ(desktop->platforms[0].id, corpus.platforms[1].id);
  options.segments = {"server"};
  EXPECT_EQ(make_training_table(corpus, options).error().code, "empty-corpus");
}

TEST(TrainingTableTest, MissingIsAbsentNotZero) {
  TableOptions options;
  options.minimum_coverage = 0;
  const auto table = make_training_table(two_by_two(), options);
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->platforms.size(), 2u);
  EXPECT_TRUE(table->at(0, 1).has_value());
  EXPECT_FALSE(table->at(1, 1).has_value());
}

TEST(TrainingTableTest, NamesPlatformsByIdOrName) {
  TableOptions options;
  options.platforms = {"Quick Q", "q"};
  const auto table = make_training_table(two_by_two(), options);
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->platforms.size(), 1u);
  EXPECT_EQ(table->platforms[0].id, "q");
  EXPECT_THAT(ids(table->programs), ElementsAre("a"));  // b was not measured there

  options.platforms = {"Quick R"};
  const auto unknown = make_training_table(two_by_two(), options);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, "unknown-platform");
  EXPECT_THAT(unknown.error().expected, HasSubstr("Quick Q"));
}

TEST(TrainingTableTest, ChoosesThreadsGroupsAndValidPrograms) {
  TableOptions all_cores;
  all_cores.threads = 0;
  const auto of_all_cores = make_training_table(two_by_two(), all_cores);
  ASSERT_TRUE(of_all_cores.ok());
  EXPECT_DOUBLE_EQ(of_all_cores->at(0, 0)->log_time, std::log(100));

  TableOptions os;
  os.groups = {"os"};
  EXPECT_THAT(ids(make_training_table(two_by_two(), os)->programs), ElementsAre("b"));
  os.groups = {"oz"};
  EXPECT_EQ(make_training_table(two_by_two(), os).error().code, "unknown-group");

  Corpus corpus = two_by_two();
  corpus.programs[0].excluded = "machine-sized: it is";
  EXPECT_THAT(ids(make_training_table(corpus, {})->programs), ElementsAre("b"));
  TableOptions include;
  include.include_excluded = true;
  EXPECT_THAT(ids(make_training_table(corpus, include)->programs), ElementsAre("a", "b"));
}

TEST(TrainingTableTest, LeavesOutFailedProfiles) {
  Corpus corpus = two_by_two();
  corpus.profiles[0].profile.exit_code = 1;
  corpus.profiles[2].profile.signal = 11;
  const auto table = make_training_table(corpus, {});
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(ids(table->programs), ElementsAre("a"));
  EXPECT_EQ(table->profiles[0].metrics.at("instructions_count"), 11);
}

TEST(TrainingTableTest, LeavesOutProfilesWhoseCountsAndTimesDoNotFit) {
  for (const char* code : {"clock-bound", "runs-differ", "other-code-path"}) {
    Corpus corpus = two_by_two();
    corpus.profiles[0].profile.warnings = {{"noisy-host", "", ""}};
    corpus.profiles[2].profile.warnings = {{"noisy-host", "", ""}, {code, "", ""}};
    const auto table = make_training_table(corpus, {});
    ASSERT_TRUE(table.ok());
    EXPECT_THAT(ids(table->programs), ElementsAre("a")) << code;
    EXPECT_EQ(table->profiles[0].metrics.at("instructions_count"), 10);
    TableOptions include;
    include.include_excluded = true;
    EXPECT_THAT(ids(make_training_table(corpus, include)->programs), ElementsAre("a", "b")) << code;
  }
}

TEST(TrainingTableTest, SaysWhatAnEmptyCorpusLacks) {
  Corpus corpus = two_by_two();
  corpus.profiles.clear();
  const auto table = make_training_table(corpus, {});
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().code, "empty-corpus");
  EXPECT_THAT(table.error().message, HasSubstr("2 programs, 0 profiles, 6 runs"));
  TableOptions unprofiled;
  unprofiled.include_unprofiled = true;
  EXPECT_THAT(ids(make_training_table(corpus, unprofiled)->programs), ElementsAre("a", "b"));
}

TEST(TrainingTableTest, SelectsRowsAndColumnsInTheGivenOrder) {
  TableOptions options;
  options.minimum_coverage = 0;
  const TrainingTable table = *make_training_table(two_by_two(), options);
  const TrainingTable rows = table.with_programs({1, 0});
  EXPECT_THAT(ids(rows.programs), ElementsAre("b", "a"));
  EXPECT_EQ(rows.profiles[0].metrics.at("instructions_count"), 20);
  EXPECT_FALSE(rows.at(0, 1).has_value());
  EXPECT_DOUBLE_EQ(rows.at(1, 1)->log_time, std::log(3));
  const TrainingTable columns = table.with_platforms({1});
  ASSERT_EQ(columns.times.size(), 2u);
  EXPECT_EQ(columns.platforms[0].id, "q");
  EXPECT_DOUBLE_EQ(columns.at(0, 0)->log_time, std::log(3));
}

TEST(TrainingTableTest, TimedProgramsWithoutAProfileAreCompanions) {
  Corpus corpus = two_by_two();
  corpus.programs.push_back(program("c"));
  corpus.programs.push_back(program("a2"));
  corpus.programs.back().family = "a";
  corpus.runs.push_back(run("c", "q", "v/4", 5));
  corpus.runs.push_back(run("a2", "p", "v/1", 2));
  TableOptions options;
  options.minimum_coverage = 0;
  const TrainingTable table = *make_training_table(corpus, options);
  EXPECT_THAT(ids(table.programs), ElementsAre("a", "b"));
  EXPECT_THAT(ids(table.companions), ElementsAre("c", "a2"));
  ASSERT_EQ(table.companion_times.size(), 4u);
  EXPECT_FALSE(table.companion_times[0].has_value());
  EXPECT_DOUBLE_EQ(table.companion_times[1]->log_time, std::log(5));
  // With a family goes everything that is known of it.
  EXPECT_THAT(ids(table.with_programs({1}).companions), ElementsAre("c"));
  EXPECT_THAT(ids(table.with_programs({0}).companions), ElementsAre("c", "a2"));
  const TrainingTable column = table.with_platforms({1});
  ASSERT_EQ(column.companion_times.size(), 2u);
  EXPECT_DOUBLE_EQ(column.companion_times[0]->log_time, std::log(5));
  options.include_unprofiled = true;
  EXPECT_TRUE(make_training_table(corpus, options)->companions.empty());
}

}  // namespace
}  // namespace perfcast::program
