#include "program/adapt/adapt_here.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <map>

#include "base/json.h"
#include "machine/meter/testing/folder_of_files.h"
#include "program/model/bundle/train_bundle.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

using testing::HasSubstr;
using testing_world::additive_world;

struct HereSetting {
  testing_world::World world = additive_world({.programs = 30, .platforms = 7, .families = 15, .noise_log = 0.01});
  double now = 0, slowdown = 1, spread = 0.01;
  std::vector<std::string> run;
  std::function<void()> on_run = [] {};
  size_t interrupted_at = 0;             // run; 0: none
  std::map<std::string, double> factor;  // of a program's time

  AdaptScenario scenario() const {
    TrainOptions options;
    options.model = "mean";
    auto bundle = train_bundle(world.table.with_platforms({0, 1, 2, 3, 4, 5}), options);
    EXPECT_TRUE(bundle);
    std::map<std::string, ProgramWork> work;
    for (const Program& program : bundle->programs) work[program.id] = {1e9, 1.0};
    auto scenario = AdaptScenario::start(std::make_shared<const Bundle>(std::move(*bundle)), world.table.platforms[6],
                                         std::move(work));
    EXPECT_TRUE(scenario);
    return std::move(*scenario);
  }
  // Programs that take ever longer where `slowdown` is not 1.
  Result<TimedHere> time(const std::string& program) {
    run.push_back(program);
    on_run();
    now += 2;
    if (run.size() == interrupted_at) return interrupted_error("interrupted");
    if (program == "program3") return Error{"not-timed", "it crashed", program, ""};
    const size_t index = std::stoul(program.substr(7));
    const double seconds = std::exp(world.table.at(index, 6)->log_time);
    const double own = factor.contains(program) ? factor.at(program) : 1;
    return TimedHere{own * seconds * std::pow(slowdown, static_cast<double>(run.size())), spread};
  }
  Result<HereOutcome> adapt(
      AdaptScenario& scenario, const HereOptions& options,
      const std::function<bool(const std::string&)>& may_run = [](const std::string&) { return true; }) {
    return adapt_here(
        scenario, options, may_run, [this](const std::string& program) { return time(program); },
        [this] { return now; }, [](const std::string&) {});
  }
};

TEST(AdaptHere, EndsWhenTheIntervalIsGoodEnough) {
  HereSetting setting;
  AdaptScenario scenario = setting.scenario();
  const auto outcome = setting.adapt(scenario, {.target_ratio = 2.5, .budget_s = 1e6});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->stopped, "interval");
  EXPECT_GE(outcome->steps.size(), kFewestRuns);
  EXPECT_LE(outcome->steps.back().interval_ratio, 2.5);
  EXPECT_EQ(setting.run.front(), setting.run.back());  // timed again in the end
  EXPECT_NEAR(outcome->drift_ratio, 1, 1e-9);
  EXPECT_TRUE(outcome->notes.empty());
  EXPECT_EQ(outcome->cost_s, 2.0 * static_cast<double>(setting.run.size()));
  EXPECT_EQ(here_as_json(*outcome)["steps"].size(), outcome->steps.size());
}

TEST(AdaptHere, KeepsToItsBudgetAndPassesOverWhatFails) {
  HereSetting setting;
  AdaptScenario scenario = setting.scenario();
  const auto outcome = setting.adapt(scenario, {.target_ratio = 1.0001, .budget_s = 40});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->stopped, "budget");
  EXPECT_LE(outcome->cost_s, 40);  // with the first program timed again
  const auto none = setting.adapt(scenario, {.target_ratio = 1.0001, .budget_s = 1e-6});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "short-budget");
  const auto all = setting.adapt(scenario, {.target_ratio = 1.0001, .budget_s = 1e6});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->stopped, "programs");
  EXPECT_THAT(all->passed_over, testing::ElementsAre("program3: it crashed"));
}

// As with --runs: one or two can't be told wrong.
TEST(AdaptHere, FewerThanThreeProgramsAreRefused) {
  for (const auto& [budget_s, message] :
       {std::pair{5.0, "1 program was done within 5.0 s"}, {7.5, "2 programs were done within 7.5 s"}}) {
    HereSetting setting;
    AdaptScenario scenario = setting.scenario();
    const auto outcome = setting.adapt(scenario, {.target_ratio = 1.0001, .budget_s = budget_s});
    ASSERT_FALSE(outcome) << budget_s;
    EXPECT_EQ(outcome.error().code, "short-budget");
    EXPECT_EQ(outcome.error().where, "budget_s");
    EXPECT_THAT(outcome.error().message, HasSubstr(message));
    EXPECT_THAT(outcome.error().expected, HasSubstr("a longer time limit: about"));
  }
  HereSetting enough;
  AdaptScenario scenario = enough.scenario();
  EXPECT_TRUE(enough.adapt(scenario, {.target_ratio = 1.0001, .budget_s = 12}));
  HereSetting few;
  AdaptScenario with_few = few.scenario();
  const auto outcome = few.adapt(with_few, {.target_ratio = 1.0001, .budget_s = 1e6}, [](const std::string& program) {
    return program == "program1" || program == "program2";
  });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, "too-few-runs");
  EXPECT_THAT(outcome.error().message, HasSubstr("2 programs"));
}

TEST(AdaptHere, TimesOfOtherWorkAreRefused) {
  HereSetting setting;
  setting.factor["program5"] = 1000;
  AdaptScenario scenario = setting.scenario();
  const auto outcome = setting.adapt(scenario, {.target_ratio = 1.0001, .budget_s = 1e6});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, "bad-unit");
  EXPECT_THAT(outcome.error().message, HasSubstr("'program5'"));
}

TEST(AdaptHere, AnInterruptLosesNothing) {
  HereSetting setting;
  setting.interrupted_at = 5;
  AdaptScenario scenario = setting.scenario();
  std::string kept;
  HereOptions options = {.target_ratio = 1.0001, .budget_s = 1e6};
  options.keep = [&](const std::vector<HereStep>& steps) {
    kept = runs_as_csv(steps);
    return Status();
  };
  const auto outcome = setting.adapt(scenario, options);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::kInterrupted);
  const auto runs = parse_adapt_runs(kept, "kept.csv");
  ASSERT_TRUE(runs) << runs.error().message;
  std::vector<std::string> timed;
  for (const AdaptRun& run : *runs) timed.push_back(run.program);
  setting.run.pop_back();
  std::erase(setting.run, "program3");
  EXPECT_EQ(timed, setting.run);
  EXPECT_TRUE(scenario.measure(*runs));

  // An error of keeping them is one.
  HereSetting full;
  AdaptScenario other = full.scenario();
  options.keep = [](const std::vector<HereStep>&) { return Status(Error{"file-error", "no space", "", ""}); };
  const auto unkept = full.adapt(other, options);
  ASSERT_FALSE(unkept);
  EXPECT_EQ(unkept.error().code, "file-error");
}

TEST(AdaptHere, AnInterruptWhileTheFirstProgramIsTimedAgainEndsIt) {
  HereSetting setting;
  const HereOptions options = {.target_ratio = 2.5, .budget_s = 1e6};
  AdaptScenario scenario = setting.scenario();
  ASSERT_TRUE(setting.adapt(scenario, options));
  HereSetting interrupted;
  interrupted.interrupted_at = setting.run.size();
  AdaptScenario again = interrupted.scenario();
  const auto outcome = interrupted.adapt(again, options);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::kInterrupted);
}

TEST(AdaptHere, NoticesAMachineThatThrottles) {
  HereSetting setting;
  setting.slowdown = 1.02;
  setting.spread = 0.2;
  AdaptScenario scenario = setting.scenario();
  const auto outcome = setting.adapt(scenario, {.target_ratio = 1.0001, .budget_s = 20});
  ASSERT_TRUE(outcome);
  EXPECT_GT(outcome->drift_ratio, 1.1);
  ASSERT_EQ(outcome->notes.size(), 2U);
  EXPECT_THAT(outcome->notes[0], HasSubstr("throttled"));
}

TEST(AdaptHere, SaysWhereTheKernelCountedHeat) {
  const FolderOfFiles cpus{{"cpu0/thermal_throttle/core_throttle_count", "3\n"}};
  HereSetting setting;
  AdaptScenario scenario = setting.scenario();
  const HereOptions options = {.target_ratio = 2.5, .budget_s = 1e6, .cpu_root = cpus.path()};
  const auto cool = setting.adapt(scenario, options);
  ASSERT_TRUE(cool);
  EXPECT_THAT(cool->notes, testing::IsEmpty());
  setting.on_run = [&] { cpus.write("cpu0/thermal_throttle/core_throttle_count", "8\n"); };
  AdaptScenario again = setting.scenario();
  const auto hot = setting.adapt(again, options);
  ASSERT_TRUE(hot);
  EXPECT_THAT(hot->notes, testing::ElementsAre(HasSubstr("throttled for heat 5 times")));
}

TEST(AdaptHere, NamesWhatIsLeftOutByReason) {
  EXPECT_THAT(left_out_in_words({}), testing::IsEmpty());
  EXPECT_THAT(
      left_out_in_words({{"user", "no stress-ng"}, {"os", "no stress-ng"}, {"user", "no stress-ng"}, {"apps", ""}}),
      testing::ElementsAre("1 of the bundle's programs (1 of apps) can't be timed here: no shipped suite does the work "
                           "that their times are of",
                           "3 of the bundle's programs (1 of os, 2 of user) can't be timed here: no stress-ng"));
}

TEST(AdaptHere, SaysWhereNothingRuns) {
  HereSetting setting;
  AdaptScenario scenario = setting.scenario();
  const auto outcome = setting.adapt(scenario, {}, [](const std::string&) { return false; });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, "nothing-to-run");
}

}  // namespace
}  // namespace perfcast::program
