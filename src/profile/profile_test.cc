#include "profile/profile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/file.h"
#include "base/json.h"
#include "base/random.h"

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::Not;

Profile example() {
  Profile profile;
  profile.program = "gzip -9";
  profile.command = {"gzip", "-9", "-c", "a \"file\"\n.txt"};
  profile.host.name = "AMD EPYC 9V45 96-Core Processor";
  profile.host.vendor = "AuthenticAMD";
  profile.host.arch = "x86_64";
  profile.host.cpu_family = 26;
  profile.host.model = 2;
  profile.host.stepping = 0;
  profile.host.logical_cpus = 2;
  profile.host.memory_bytes = 8589934592.0;
  profile.host.l1d_bytes = 49152;
  profile.host.l2_bytes = 1048576;
  profile.host.cpu_flags = {"avx2", "avx512f"};
  profile.host.kernel = "6.1.0";
  profile.host.os = "Debian GNU/Linux 12 (bookworm)";
  profile.host.hypervisor = "kvm";
  profile.instruction_set = "x86_64";
  profile.started_utc = "2025-01-31T12:00:00Z";
  profile.metrics = {
      {"instructions_count", 123456789012.0}, {"kernel_cpu_ratio", 0.1}, {"wall_s", 0.30000000000000004}};
  profile.missing = {{"hw_cycles_count", "the kernel offers no hardware events"}};
  profile.collectors = {{"native", "1", 0.5, "ok", ""}, {"perf_event", "", std::nullopt, "skipped", "not supported"}};
  profile.warnings = {{"non-zero-exit", "it ended with 3", "check its arguments"}};
  profile.phases = {{0, 1000, {{"loads_count", 10}}, {}, {}}, {1000, 500, {}, {}, {}}};
  profile.course = {{0.5, 1.9, 0.25, 0.1, 0.05, 12, 4096e3}, {0.5, 1, 0, 0, 0, 0, 8192e3}};
  profile.threads = {{"cc1", {{"instructions_count", 8e8}}}, {"as", {{"instructions_count", 2e8}}}};
  profile.parts = {{"cc1", "cc1 a.c", 100, 12, 33.5, {{"instructions_count", 1e9}}},
                   {"sh", "", 1, 1, std::nullopt, {}}};
  profile.accounted_cpu_ratio = 0.97;
  profile.partly_seen = {0.25, 0.125, true};
  profile.replicates = {{{"miss_32k_random_count", 5}}, {{"miss_32k_random_count", 7}}};
  profile.core_bounds = {{"zen4", {{"memory", 0.625}, {"L1", 0.25}}}, {"ice-lake", {}}};
  profile.exit_code = 3;
  profile.work_units = 5e6;
  profile.work_unit = "byte";
  return profile;
}

Error error_of(const Json& json) {
  const auto profile = profile_from_json(json, "p.json");
  EXPECT_FALSE(profile) << json.dump();
  return profile ? Error{} : profile.error();
}

Json minimal() { return Json{{"schema", kProfileSchema}, {"program", "p"}, {"metrics", Json::object()}}; }

Error error_with(const std::string& key, const Json& value) {
  Json json = minimal();
  json[key] = value;
  return error_of(json);
}

TEST(Profile, CoreBoundsAreSharesByDesign) {
  const std::string field = "core_cycles_ratio_by_bound";
  EXPECT_THAT(error_with(field, {{"zen4", 1}}).message, HasSubstr("zen4: found number, expected an object of shares"));
  EXPECT_THAT(error_with(field, {{"zen4", {{"memory", 1.5}}}}).message,
              HasSubstr("zen4.memory: found 1.5, expected a share from 0 to 1"));
  EXPECT_THAT(error_with(field, {{"zen4", {{"memory", -1}}}}).message, HasSubstr("expected a share from 0 to 1"));
  EXPECT_THAT(error_with(field, {{"zen 4", Json::object()}}).message, HasSubstr("found such a name"));
}

TEST(Profile, ComesBackAsItWas) {
  const auto json = parse_json(to_text(to_json(example())), "p.json");
  ASSERT_TRUE(json);
  const auto back = profile_from_json(*json, "p.json");
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(*back, example());
}

TEST(Profile, EmptyComesBackAsItWas) {
  const auto back = profile_from_json(to_json(Profile{}), "p.json");
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(*back, Profile{});
}

TEST(Profile, JsonHasTheFixedFieldsSchemaFirst) {
  const Json json = to_json(example());
  EXPECT_EQ(json.begin().key(), "schema");
  EXPECT_EQ(json["schema"], "perfcast.profile/1");
  for (const char* field : {"program", "command", "host", "metrics", "missing", "collectors", "phases"}) {
    EXPECT_TRUE(json.contains(field)) << field;
  }
  EXPECT_EQ(json["metrics"]["instructions_count"].dump(), "123456789012");
  EXPECT_EQ(json["metrics"]["wall_s"].dump(), "0.30000000000000004");
  EXPECT_EQ(json["missing"]["hw_cycles_count"], "the kernel offers no hardware events");
  EXPECT_EQ(json["phases"][1]["first_instruction_count"], 1000);
  EXPECT_FALSE(json.contains("signal"));
}

TEST(Profile, PartsStandAlone) {
  const auto part = profile_of_part(example(), "cc1");
  ASSERT_TRUE(part);
  EXPECT_EQ(part->program, "cc1");
  EXPECT_EQ(part->metrics, (MetricValues{{"instructions_count", 1e9}}));
  EXPECT_EQ(part->host, example().host);
  EXPECT_TRUE(part->parts.empty());
  EXPECT_TRUE(part->course.empty());
  EXPECT_EQ(part->threads.size(), 1u);
  EXPECT_EQ(profile_of_part(example(), "as").error().expected, "one of cc1, sh");
  Profile alone = example();
  alone.parts.clear();
  EXPECT_EQ(profile_of_part(alone, "as").error().code, "unknown-process");
}

TEST(Profile, KernelsComeBackAndStandAlone) {
  Profile profile = example();
  ProfileKernel kernel{"turn", 9, 640, {{0, 8, {64, 1, 1}, {16, 1, 1}, {}}, {8, 1, {128, 1, 1}, {16, 1, 1}, {}}}, {}};
  kernel.launches[0].metrics = {{"kernel_instructions_count", 100}, {"kernel_reuse_ratio", 2}};
  kernel.launches[1].metrics = {{"kernel_instructions_count", 190}};
  kernel.metrics = mean_metrics(kernel.launches);
  // What one of them lacks has no mean.
  EXPECT_EQ(kernel.metrics, (MetricValues{{"kernel_instructions_count", 110}}));
  profile.kernels = {kernel};
  const auto back = profile_from_json(to_json(profile), "p.json");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, profile);
  const auto alone = profile_of_part(profile, "turn");
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->metrics, kernel.metrics);
  EXPECT_TRUE(alone->kernels.empty());
  EXPECT_EQ(profile_of_part(profile, "as").error().expected, "one of cc1, sh, turn");
  const auto wrong = profile_from_json(
      *parse_json(R"({"schema": "perfcast.profile/1", "program": "p", "metrics": {}, "kernels": [{"name": "k",)"
                  R"( "launches": [{"global_size": [1, 2]}]}]})",
                  "p.json"),
      "p.json");
  EXPECT_EQ(wrong.error().message,
            "p.json.kernels[0].launches[0].global_size: found array, expected an array of 3 numbers");
}

TEST(Profile, WhatIsNotFiniteIsMissing) {
  Profile profile;
  profile.metrics = {{"a_count", std::nan("")}, {"b_count", std::numeric_limits<double>::infinity()}, {"c_count", 0}};
  profile.missing = {{"b_count", "overflow"}};
  const auto back = profile_from_json(to_json(profile), "p.json");
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(back->metrics, (MetricValues{{"c_count", 0}}));
  EXPECT_EQ(back->missing, (std::map<std::string, std::string>{{"a_count", "its value is not a finite number"},
                                                               {"b_count", "overflow"}}));
}

TEST(Profile, UnknownMetricsAndFieldsAreAccepted) {
  Json json = minimal();
  json["metrics"]["from.the:future-2_ratio"] = -0.5;
  json["comment"] = {1, 2};
  const auto profile = profile_from_json(json, "p.json");
  ASSERT_TRUE(profile) << to_text(profile.error());
  EXPECT_EQ(profile->metrics, (MetricValues{{"from.the:future-2_ratio", -0.5}}));
  EXPECT_FALSE(profile->ok());
}

TEST(Profile, OkNeedsExitCodeZeroAndNoSignal) {
  Profile profile;
  EXPECT_FALSE(profile.ok());
  profile.exit_code = 0;
  EXPECT_TRUE(profile.ok());
  profile.signal = 9;
  EXPECT_FALSE(profile.ok());
}

TEST(Profile, OtherSchemasAreRefused) {
  EXPECT_EQ(error_of(Json::array()).message, "not a profile: found array");
  EXPECT_EQ(error_of(Json::object()).message, "not a profile: found an object without a schema");
  const Error other = error_with("schema", "perfcast.forecast/1");
  EXPECT_EQ(other.code, "bad-profile");
  EXPECT_EQ(other.message, "not a profile: found schema perfcast.forecast/1");
  EXPECT_EQ(other.where, "p.json");
  EXPECT_EQ(other.expected, "schema perfcast.profile/1");
  EXPECT_EQ(error_with("schema", "perfcast.profile/2").code, "future-version");
  EXPECT_EQ(error_with("schema", "perfcast.profile/1.5").code, "future-version");
  EXPECT_EQ(error_with("schema", "perfcast.profile/0").code, "bad-profile");
  EXPECT_EQ(error_with("schema", "perfcast.profile/x").code, "bad-profile");
  EXPECT_EQ(error_with("schema", 1).code, "bad-profile");
  EXPECT_EQ(error_with("schema", "\x1b[2J" + std::string(200, 'x')).message,
            "not a profile: found schema ?[2J" + std::string(76, 'x') + "...");
}

TEST(Profile, EveryMistakeIsNamed) {
  EXPECT_EQ(error_of(Json{{"schema", kProfileSchema}}).message,
            "p.json.program: found nothing, expected a string; p.json.metrics: found nothing, expected an object");
  EXPECT_EQ(error_with("metrics", {{"a_count", "7"}}).message,
            "p.json.metrics.a_count: found string, expected a finite number; a metric that could not be read is left "
            "out");
  EXPECT_THAT(error_with("metrics", {{"a_count", nullptr}}).message, HasSubstr("p.json.metrics.a_count: found null"));
  EXPECT_EQ(error_with("metrics", {{"a_count", -1}}).message,
            "p.json.metrics.a_count: found -1, expected a number of at least 0");
  EXPECT_THAT(error_with("metrics", {{"a b", 1}}).message, HasSubstr("p.json.metrics.a b: found such a name"));
  EXPECT_THAT(error_with("metrics", {{"", 1}}).message, HasSubstr("expected a metric name of letters"));
  EXPECT_THAT(error_with("metrics", Json::array()).message, HasSubstr("p.json.metrics: found array"));
  EXPECT_THAT(error_with("missing", {{"a_count", 0}}).message, HasSubstr("p.json.missing.a_count: found number"));
  EXPECT_THAT(error_with("host", {{"cpu_family", "six"}}).message, HasSubstr("p.json.host.cpu_family: found string"));
  EXPECT_THAT(error_with("host", {{"logical_cpus", 0}}).message,
              HasSubstr("p.json.host.logical_cpus: found 0, expected an integer from 1 to 1048576"));
  EXPECT_THAT(error_with("host", {{"model", 18446744073709551615u}}).message, HasSubstr("found a huge number"));
  EXPECT_THAT(error_with("host", {{"memory_bytes", -1.5}}).message, HasSubstr("expected a number of at least 0"));
  EXPECT_THAT(error_with("host", 7).message, HasSubstr("p.json.host: found number, expected an object"));
  EXPECT_THAT(error_with("command", {"ls", 7}).message, HasSubstr("p.json.command: found an array holding number"));
  EXPECT_THAT(error_with("exit_code", 256).message, HasSubstr("expected an integer from 0 to 255"));
  EXPECT_THAT(error_with("exit_code", 0.5).message, HasSubstr("p.json.exit_code: found number, expected an integer"));
  EXPECT_THAT(error_with("collectors", {{{"version", "1"}}}).message,
              HasSubstr("p.json.collectors[0].name: found nothing"));
  EXPECT_THAT(error_with("phases", {{{"metrics", {{"a_s", true}}}}}).message,
              HasSubstr("p.json.phases[0].metrics.a_s: found boolean"));
  EXPECT_THAT(error_with("phases", {7}).message, HasSubstr("p.json.phases[0]: found number, expected an object"));
  EXPECT_EQ(error_with("warnings", "none").code, "bad-profile");
}

TEST(Profile, ManyMistakesAreCounted) {
  Json metrics = Json::object();
  for (int i = 0; i < 25; ++i) metrics[fmt::format("m{}_count", i)] = false;
  const std::string message = error_with("metrics", metrics).message;
  EXPECT_THAT(message, HasSubstr("m9_count"));
  EXPECT_THAT(message, Not(HasSubstr("m10_count")));
  EXPECT_THAT(message, HasSubstr("; and 15 more"));
}

TEST(Profile, SizesAreLimited) {
  Json metrics = Json::object();
  for (int i = 0; i < 10001; ++i) metrics[fmt::format("m{}_count", i)] = i;
  EXPECT_THAT(error_with("metrics", metrics).message, HasSubstr("found 10001 metrics, expected at most 10000"));
  EXPECT_THAT(error_with("phases", Json(std::vector<int>(100001, 0))).message,
              HasSubstr("p.json.phases: found 100001 entries, expected at most 100000"));
  EXPECT_THAT(error_with("program", std::string((1 << 20) + 1, 'x')).message,
              HasSubstr("p.json.program: found a text of 1048577 bytes"));
}

TEST(Profile, ReadsFiles) {
  const std::string path = testing::TempDir() + "profile_test." + std::to_string(getpid()) + ".json";
  ASSERT_TRUE(write_file_atomically(path, to_text(to_json(example()))));
  const auto profile = read_profile(path);
  ASSERT_TRUE(profile) << to_text(profile.error());
  EXPECT_EQ(*profile, example());

  ASSERT_TRUE(write_file_atomically(path, to_text(to_json(example())).substr(0, 400)));
  const auto truncated = read_profile(path);
  ASSERT_FALSE(truncated);
  EXPECT_EQ(truncated.error().code, "bad-json");
  EXPECT_THAT(truncated.error().where, HasSubstr(path + ":"));
  unlink(path.c_str());
  EXPECT_EQ(read_profile(path).error().code, "file-not-found");
}

// Drawn profiles: any text, any finite number, anything absent.
class DrawnProfile {
 public:
  explicit DrawnProfile(uint64_t seed) : random_(seed) {}

  Profile draw() {
    Profile profile;
    profile.program = text();
    profile.command = texts();
    for (uint64_t n = count(); n > 0; --n) profile.metrics[name()] = number();
    for (uint64_t n = count(); n > 0; --n) profile.missing[name()] = text();
    profile.host.name = text();
    if (coin()) profile.host.l3_bytes = std::abs(number());
    if (coin()) profile.host.stepping = static_cast<int64_t>(random_.next() >> 1);
    if (coin()) profile.exit_code = static_cast<int>(random_.below(256));
    for (const std::string& word : texts()) {
      profile.collectors.push_back({word, word, std::abs(number()), word, word});
      profile.warnings.push_back({word, word, word});
      profile.phases.push_back({std::abs(number()), 1, profile.metrics, {}, {}});
    }
    return profile;
  }

 private:
  bool coin() { return random_.below(2) == 1; }
  uint64_t count() { return random_.below(12); }
  std::string text() {
    std::string result(random_.below(20), ' ');
    for (char& c : result) c = static_cast<char>(random_.below(127));
    return result;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> result(count());
    for (std::string& each : result) each = text();
    return result;
  }
  std::string name() {
    constexpr std::string_view kLetters = "abz09_";
    std::string result(1 + random_.below(60), 'a');
    for (char& c : result) c = kLetters[random_.below(kLetters.size())];
    return result + "_ratio";
  }
  double number() {
    const uint64_t bits = random_.next();
    const auto value = std::bit_cast<double>(bits);
    return std::isfinite(value) ? value : static_cast<double>(bits >> 40);
  }

  Random random_;
};

TEST(Profile, AnyProfileComesBackAsItWas) {
  DrawnProfile drawn(1);
  for (int i = 0; i < 200; ++i) {
    const Profile profile = drawn.draw();
    const std::string text = to_text(to_json(profile));
    const auto json = parse_json(text, "p.json");
    ASSERT_TRUE(json) << text;
    const auto back = profile_from_json(*json, "p.json");
    ASSERT_TRUE(back) << back.error().message << "\n" << text;
    ASSERT_TRUE(*back == profile) << text;
  }
}

TEST(Profile, SaysHowParallelItsRunWas) {
  const Parallelism seen = parallelism_of({{1, 1, 0, 3, 0, 0, 0}, {3, 2, 0.4, 0, 0, 0, 0}});
  EXPECT_DOUBLE_EQ(seen.running_count, 1.75);
  EXPECT_DOUBLE_EQ(seen.ready_count, 0.3);
  EXPECT_DOUBLE_EQ(seen.most_running_count, 2);
  EXPECT_DOUBLE_EQ(seen.parallel_time_ratio, 0.75);
  EXPECT_EQ(parallelism_of({}).running_count, 0);
}

}  // namespace
}  // namespace perfcast
