#include "program/adapt/adapt_platform.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "program/adapt/adapt_report.h"
#include "program/model/bundle/train_bundle.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;
using testing_world::additive_world;

// A bundle of the first six platforms of a world, and the seventh's runs: seconds per unit of 1e9 instructions.
struct AdaptSetting {
  testing_world::World world;
  std::shared_ptr<const Bundle> bundle;
  std::map<std::string, ProgramWork> work;
  std::vector<AdaptRun> runs(size_t count, double unit = 1) const {
    std::vector<AdaptRun> rows;
    for (size_t p = 0; p < count; ++p) {
      rows.push_back({"program" + std::to_string(p), unit * std::exp(world.table.at(p, 6)->log_time), 1,
                      "runs.csv:" + std::to_string(p + 2)});
    }
    return rows;
  }
  AdaptScenario scenario() const {
    auto started = AdaptScenario::start(bundle, world.table.platforms[6], work);
    EXPECT_TRUE(started);
    return std::move(*started);
  }
};

const AdaptSetting& setting() {
  static const AdaptSetting made = [] {
    AdaptSetting result{additive_world({.programs = 30, .platforms = 7, .families = 15, .noise_log = 0.01}), {}, {}};
    TrainOptions options;
    options.model = "mean";
    auto bundle = train_bundle(result.world.table.with_platforms({0, 1, 2, 3, 4, 5}), options);
    EXPECT_TRUE(bundle);
    result.bundle = std::make_shared<const Bundle>(std::move(*bundle));
    for (const Program& program : result.bundle->programs) result.work[program.id] = {1e9, 1.0};
    return result;
  }();
  return made;
}

TEST(AdaptPlatform, RunsAreReadFromCsv) {
  const auto runs = parse_adapt_runs("program,seconds,work_units\n gzip ,2.5,\nzstd,3e-9,4\n", "runs.csv");
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->size(), 2U);
  EXPECT_EQ((*runs)[0].program, "gzip");
  EXPECT_EQ((*runs)[0].work_units, 1);
  EXPECT_EQ((*runs)[1].seconds, 3e-9);
  EXPECT_EQ((*runs)[1].work_units, 4);
  std::string form;
  const auto commas = parse_adapt_runs("program;seconds\ngzip;2,5\nzstd;0,25\n", "r", &form);
  ASSERT_TRUE(commas) << commas.error().message;
  EXPECT_EQ((*commas)[1].seconds, 0.25);
  EXPECT_EQ(form, "columns separated by semicolons; decimal commas");
  const auto other = parse_adapt_runs("prog,time\na,1\n", "r");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "missing-column");
  EXPECT_EQ(other.error().message, "there is no column 'program' among prog, time");
  EXPECT_EQ(other.error().expected, "the columns program, seconds and, where it is not 1, work_units");
  const auto semicolons = parse_adapt_runs("program;seconds\na;1,5\n", "r");
  ASSERT_TRUE(semicolons.ok()) << to_text(semicolons.error());
  EXPECT_EQ((*semicolons)[0].seconds, 1.5);
  EXPECT_THAT(parse_adapt_runs("program,seconds\na,\"1,500\"\n", "r").error().message,
              HasSubstr("may have a decimal comma or thousands"));
  EXPECT_EQ(parse_adapt_runs("program,seconds\n", "r").error().code, "too-few-runs");
  EXPECT_EQ(parse_adapt_runs("program,seconds\na,0\n", "r").error().code, "bad-runs");
  EXPECT_EQ(parse_adapt_runs("program,seconds\na,\n", "r").error().code, "bad-runs");
  EXPECT_EQ(parse_adapt_runs("program,seconds\n,1\n", "r").error().code, "bad-runs");
  EXPECT_EQ(parse_adapt_runs("program,seconds\na,fast\n", "r").error().code, "bad-number");
  EXPECT_EQ(parse_adapt_runs("program,seconds\na,1\nb,inf\n", "r").error().where, "r:3");
  for (const char* impossible : {"1e300,1", "1e-300,1", "1,1e300", "1e-9,1e9", "1e9,1e-9"}) {
    const auto refused = parse_adapt_runs("program,seconds,work_units\na," + std::string(impossible) + "\n", "r");
    ASSERT_FALSE(refused) << impossible;
    EXPECT_EQ(refused.error().code, "bad-runs");
    EXPECT_EQ(refused.error().where, "r:2");
  }
}

TEST(AdaptPlatform, FactsAreReadFromJson) {
  const auto platform = parse_platform_facts(
      R"({"name": "EPYC X", "vendor": "AuthenticAMD", "arch": "amd64", "cpu_family": 26, "flags": ["avx2"],
          "facts": {"l2_bytes": 1048576}})",
      "f.json");
  ASSERT_TRUE(platform) << platform.error().message;
  EXPECT_EQ(platform->id, "epyc-x");
  EXPECT_EQ(platform->vendor, "AMD");
  EXPECT_EQ(platform->arch, "x86_64");
  EXPECT_EQ(platform->cpu_family, 26);
  EXPECT_EQ(platform->facts.at("l2_bytes"), 1048576);
  EXPECT_EQ(parse_platform_facts("[]", "f").error().code, "bad-facts");
  std::string flags = "\"a\"";
  for (int i = 0; i < 10000; ++i) flags += ",\"f" + std::to_string(i) + "\"";
  const auto flagged = parse_platform_facts("{\"name\": \"a\", \"flags\": [" + flags + "]}", "f");
  ASSERT_FALSE(flagged);
  EXPECT_EQ(flagged.error().message, "f.flags: found 10001 entries, expected at most 10000");
  EXPECT_EQ(parse_platform_facts(R"({"name": ""})", "f").error().code, "bad-facts");
  EXPECT_EQ(parse_platform_facts(R"({"name": "a", "facts": {"l2_bytes": "big"}})", "f").error().code, "bad-facts");
  EXPECT_EQ(parse_platform_facts(R"({"name": "a", "cpu_family": "x"})", "f").error().code, "bad-facts");
  const auto mistyped = parse_platform_facts(R"({"name": "a", "vendr": "AMD"})", "f");
  ASSERT_FALSE(mistyped);
  EXPECT_THAT(mistyped.error().message, HasSubstr("f.vendr: found an unknown key, expected one of vendor, "));
}

TEST(AdaptPlatform, FactsAreThoseOfThePlatformsThatAreKnown) {
  Platform small, large, asked;
  small.facts = {{"max_hz", 2e9}, {"l3_bytes", 0}};
  large.facts = {{"max_hz", 5e9}, {"l3_bytes", 1e6}};
  const auto found = [&](const std::string& name, double value) {
    asked.facts = {{name, value}};
    const auto checked = check_known_facts(asked, {small, large}, "f.json");
    if (!checked) return checked.error().message + "; " + checked.error().expected;
    return checked->empty() ? std::string() : checked->front();
  };
  EXPECT_EQ(found("max_hz", 6e9), "");
  asked.vendor = "Foo";
  small.vendor = "AMD";
  large.vendor = "Intel";
  EXPECT_EQ(found("max_hz", 6e9), "no platform of the bundle has the vendor 'Foo'; they have AMD, Intel");
  asked.vendor = "GenuineIntel";
  EXPECT_EQ(found("max_hz", 6e9), "");
  asked.vendor.clear();
  EXPECT_EQ(found("l3_bytes", 0), "");
  EXPECT_EQ(found("l3_bytes", 9e7), "");
  EXPECT_EQ(found("max_hz", 5e300), "max_hz of 5e+300; Hz: platforms of the bundle have 2000000000 to 5000000000");
  EXPECT_EQ(found("max_hz", 4.2),
            "max_hz of 4.2; Hz: platforms of the bundle have 2000000000 to 5000000000; 4200000000 would be among them: "
            "was it in "
            "another unit?");
  EXPECT_THAT(found("max_hz", 4.2e12), HasSubstr("4200000000 would be among them"));
  asked.facts = {{"max_hz", 4.2}};
  EXPECT_EQ(check_known_facts(asked, {small, large}, "f.json").error().kind, ErrorKind::kData);  // as all of the file
  EXPECT_EQ(found("maxhz", 5e9),
            "no platform of the bundle states a fact 'maxhz', so it tells nothing; they state max_hz, l3_bytes");
  asked.facts = {{"maxhz", 5e9}, {"max_hz", 5e9}, {"l4_bytes", 1}};
  EXPECT_THAT(*check_known_facts(asked, {small, large}, "f.json"),
              testing::ElementsAre("no platform of the bundle states the facts 'l4_bytes', 'maxhz', so they tell "
                                   "nothing; they state l3_bytes, max_hz"));
}

TEST(AdaptPlatform, PlatformsWithoutAVendorNameNone) {
  Platform one, other, asked;
  one.arch = "x86_64";
  asked.vendor = "AMD";
  asked.arch = "riscv64";
  EXPECT_THAT(
      *check_known_facts(asked, {other, one}, "f.json"),
      testing::ElementsAre("no platform of the bundle has the instruction set (arch) 'riscv64'; they have x86_64"));
}

TEST(AdaptPlatform, WrongRunsAreFoundBeforeAnythingIsLearned) {
  const AdaptSetting& own = setting();
  EXPECT_TRUE(check_adapt_runs(*own.bundle, own.work, {}));
  EXPECT_TRUE(check_adapt_runs(*own.bundle, own.work, own.runs(5)));
  EXPECT_EQ(check_adapt_runs(*own.bundle, own.work, own.runs(2)).error().code, "too-few-runs");
  EXPECT_EQ(check_adapt_runs(*own.bundle, own.work, {{"doom", 1, 1, "r:2"}}).error().code, "unknown-program");
  EXPECT_EQ(check_adapt_runs(*own.bundle, {}, own.runs(5)).error().code, "no-work");
  std::vector<AdaptRun> twice = own.runs(5);
  twice.push_back(twice.front());
  twice.back().seconds *= 2;
  EXPECT_EQ(check_adapt_runs(*own.bundle, own.work, twice).error().code, "contradictory-runs");
}

TEST(AdaptPlatform, RunsNarrowIntervals) {
  AdaptScenario scenario = setting().scenario();
  const Status status = scenario.measure(setting().runs(10));
  ASSERT_TRUE(status.ok()) << (status.ok() ? "" : to_text(status.error()));
  const AdaptReport report = scenario.report(3);
  EXPECT_EQ(report.runs, 10U);
  ASSERT_EQ(report.groups.size(), 2U);
  EXPECT_EQ(report.groups[0].measured, 5U);
  EXPECT_LT(report.groups[0].half_width, report.groups[0].half_width_facts);
  ASSERT_EQ(report.suggested.size(), 3U);
  EXPECT_GE(report.suggested[0].program, "program10");  // one that wasn't run
  EXPECT_NEAR(*report.programs[4].measured_s, std::exp(setting().world.table.at(4, 6)->log_time), 1e-9);
  EXPECT_EQ(scenario.finish().platforms.size(), 7U);
  EXPECT_EQ(report.programs.size(), 30U);
  EXPECT_EQ(report.check.programs, 10U);
  EXPECT_TRUE(report.check.gains());
  EXPECT_LT(report.check.runs_error_log, report.check.facts_error_log);
}

// Times that have nothing to do with the platform, up and down: forecasts of the others stay as they were.
TEST(AdaptPlatform, RunsThatTellNothingChangeNoForecast) {
  const AdaptReport before = setting().scenario().report(0);
  AdaptScenario scenario = setting().scenario();
  std::vector<AdaptRun> runs = setting().runs(10);
  for (size_t i = 0; i < runs.size(); ++i) runs[i].seconds = *before.programs[i].facts_s * (i % 4 < 2 ? 1.6 : 1 / 1.6);
  ASSERT_TRUE(scenario.measure(runs));
  const AdaptReport after = scenario.report(0);
  EXPECT_FALSE(after.check.gains());
  for (size_t p = 10; p < after.programs.size(); ++p) {
    EXPECT_EQ(after.programs[p].relative_time, before.programs[p].relative_time);
    EXPECT_EQ(after.programs[p].upper, before.programs[p].upper);
  }
  EXPECT_NEAR(*after.programs[0].measured_s, runs[0].seconds, 1e-9);
}

TEST(AdaptPlatform, SaysWhyFewerProgramsAreSuggested) {
  EXPECT_TRUE(setting().scenario().report(3).notes.empty());
  const auto notes_of = [](const std::map<std::string, ProgramWork>& work, size_t measured, size_t asked) {
    auto scenario = AdaptScenario::start(setting().bundle, setting().world.table.platforms[6], work);
    EXPECT_TRUE(scenario);
    EXPECT_TRUE(scenario->measure(setting().runs(measured)));
    return scenario->report(asked).notes;
  };
  EXPECT_THAT(
      notes_of({}, 0, 2),
      testing::ElementsAre("of the bundle's 30 programs none can be suggested: of 30 no profile says how much work "
                           "a run is, such as 'program0' (--profiles FOLDER with theirs)"));
  EXPECT_THAT(notes_of(setting().work, 10, 25),
              testing::ElementsAre("of the bundle's 30 programs only 20 can be suggested: 10 were run already"));
}

TEST(AdaptPlatform, OtherUnitsAreNoticed) {
  AdaptScenario scenario = setting().scenario();
  const Status all = scenario.measure(setting().runs(6, 1000));
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, "bad-unit");
  EXPECT_THAT(all.error().message, HasSubstr("milliseconds"));
  std::vector<AdaptRun> runs = setting().runs(6);
  runs[2].seconds *= 1000;
  const Status one = scenario.measure(runs);
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().code, "bad-unit");
  EXPECT_THAT(one.error().message, HasSubstr("'program2'"));
  EXPECT_EQ(one.error().where, "runs.csv:4");
}

// Not by a whole unit, and all alike: nothing tells which of them is right, so they are taken, and doubted.
TEST(AdaptPlatform, RunsThatAreAllFarFromTheFactsAreDoubted) {
  EXPECT_EQ(all_beyond_facts({}), "");
  const double slow = std::log(7.0), half = std::log(1.2);
  EXPECT_THAT(all_beyond_facts({{slow, half}, {slow, half}, {slow - 0.1, half}}),
              HasSubstr("all 3 runs took 6.3 to 7 times as long as this platform's facts suggest, beyond their 90% "
                        "interval (x/1.20)"));
  EXPECT_THAT(all_beyond_facts({{-slow, half}, {-slow, half}, {-slow, half}}), HasSubstr("all 3 runs took 0.14"));
  EXPECT_EQ(all_beyond_facts({{slow, half}, {slow, half}}), "");                 // too few to say so
  EXPECT_EQ(all_beyond_facts({{slow, half}, {slow, half}, {half, half}}), "");   // one is as the facts say
  EXPECT_EQ(all_beyond_facts({{slow, half}, {slow, half}, {-slow, half}}), "");  // and this is no common cause
  AdaptScenario scenario = setting().scenario();
  ASSERT_TRUE(scenario.measure(setting().runs(6)));
  EXPECT_TRUE(scenario.report(0).notes.empty());
}

TEST(AdaptPlatform, BadRunsAreRefusedByName) {
  AdaptScenario scenario = setting().scenario();
  std::vector<AdaptRun> runs = setting().runs(4);
  runs.push_back({"doom", 1, 1, "runs.csv:9"});
  runs.push_back({"quake", 1, 1, "runs.csv:10"});
  const Status unknown = scenario.measure(runs);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "unknown-program");
  EXPECT_THAT(unknown.error().message, HasSubstr("'doom', 'quake'"));

  const Status few = scenario.measure(setting().runs(2));
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().code, "too-few-runs");
  EXPECT_THAT(few.error().message, HasSubstr("3 are needed"));

  runs = setting().runs(5);
  runs.push_back(runs[1]);
  EXPECT_TRUE(scenario.measure(runs));
  runs.back().seconds *= 1.5;
  const Status twice = scenario.measure(runs);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, "contradictory-runs");
  EXPECT_TRUE(scenario.measure({}));  // facts alone

  auto without = AdaptScenario::start(setting().bundle, setting().world.table.platforms[6], {});
  ASSERT_TRUE(without);
  EXPECT_EQ(without->measure(setting().runs(4)).error().code, "no-work");
}

}  // namespace
}  // namespace perfcast::program
