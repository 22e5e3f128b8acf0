#include "profile/suite/suite_runner.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/process/temp_folder.h"

namespace perfcast {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Suite two_stressors() {
  Suite suite;
  suite.name = "test";
  suite.stress_ng_version = "0.20.01";
  for (const char* name : {"fork", "heapsort"}) {
    SuiteProgram entry;
    entry.program = {std::string("stressng.") + name, name, "user", "test", "operation", "", ""};
    entry.run.tool = "stress-ng";
    entry.run.stressor = name;
    entry.run.operations = 10;
    entry.run.native_operations = 100;
    suite.programs.push_back(entry);
  }
  return suite;
}

// The word after `name` in a command.
std::string option(const std::vector<std::string>& command, const std::string& name) {
  const auto at = std::find(command.begin(), command.end(), name);
  return at == command.end() || at + 1 == command.end() ? "" : *(at + 1);
}

class SuiteRun : public testing::Test {
 protected:
  void SetUp() override {
    options_.folder = folder_.path() + "/profiles";
    std::filesystem::create_directory(options_.folder);
    tools_.work_folder = folder_.path();
    tools_.stress_ng = StressNg{"/opt/stress-ng", "0.20.01", {"fork", "heapsort"}};
    // A stand-in for stress-ng: each operation takes 1 ms, of it a quarter in the kernel.
    actions_.run = [this](const std::vector<std::string>& command, double) -> Result<WorkReport> {
      ran_.push_back(command);
      write_report(command);
      return WorkReport{0, 1, 0, 1};
    };
    actions_.profile = [this](const CollectRequest& request, const Progress&) -> Result<Profile> {
      profiled_.push_back(option(request.command, "--yaml"));
      write_report(request.command);
      Profile profile;
      profile.command = request.command;
      profile.exit_code = exit_code_;
      profile.metrics["instructions_count"] = 1e6;
      profile.metrics["cpu_s"] = 123;
      profile.missing["cpu_spread_ratio"] = "there was one run only";
      return profile;
    };
  }

  void write_report(const std::vector<std::string>& command) {
    const std::string stressor = command[7].substr(2);
    const double operations = std::stod(option(command, "--" + stressor + "-ops"));
    std::ofstream(option(command, "--yaml"))
        << "metrics:\n    - stressor: " << stressor << "\n      bogo-ops: " << operations
        << "\n      wall-clock-time: " << operations * 0.002 << "\n      user-time: " << operations * 0.00075 * factor_
        << "\n      system-time: " << operations * 0.00025 * factor_ << "\n";
  }

  Result<std::vector<SuiteOutcome>> run() {
    SuiteRunner runner(suite_, options_, tools_, actions_);
    return runner.run(
        [this](const SuiteProgram& entry, const Profile&) {
          stored_.push_back(entry.program.id);
          return Status();
        },
        [](const std::string&) {});
  }

  std::vector<std::string> statuses() {
    const auto outcomes = run();
    std::vector<std::string> result;
    if (!outcomes) return {to_text(outcomes.error())};
    for (const SuiteOutcome& outcome : *outcomes) result.push_back(outcome.status);
    return result;
  }

  TempFolder folder_ = std::move(*TempFolder::create());
  Suite suite_ = two_stressors();
  SuiteOptions options_;
  SuiteTools tools_;
  SuiteRunner::Actions actions_;
  int exit_code_ = 0;
  double factor_ = 1;  // slowness of the machine
  std::vector<std::vector<std::string>> ran_;
  std::vector<std::string> profiled_, stored_;
};

TEST_F(SuiteRun, TimesAndProfilesEachProgram) {
  EXPECT_THAT(statuses(), ElementsAre("profiled", "profiled"));
  EXPECT_EQ(ran_.size(), 4u);  // two timed runs each
  EXPECT_EQ(option(ran_[0], "--fork-ops"), "100");
  EXPECT_THAT(stored_, ElementsAre("stressng.fork", "stressng.heapsort"));

  const auto profile = read_suite_profile(options_.folder + "/stressng.fork.json");
  ASSERT_TRUE(profile.ok()) << to_text(profile.error());
  EXPECT_EQ(profile->program, "stressng.fork");
  EXPECT_EQ(profile->work_units, 10);
  EXPECT_EQ(profile->work_unit, "operation");
  // 1 ms for each of the counted run's ten operations, not what the profiler measured.
  EXPECT_DOUBLE_EQ(profile->metrics.at("cpu_s"), 0.01);
  EXPECT_DOUBLE_EQ(profile->metrics.at("user_s"), 0.0075);
  EXPECT_DOUBLE_EQ(profile->metrics.at("system_s"), 0.0025);
  EXPECT_DOUBLE_EQ(profile->metrics.at("wall_s"), 0.02);
  EXPECT_DOUBLE_EQ(profile->metrics.at("native_runs_count"), 2);
  EXPECT_DOUBLE_EQ(profile->metrics.at("kernel_cpu_ratio"), 0.25);
  const auto file = read_profile(options_.folder + "/stressng.fork.json");  // ratios are in it for others, too
  ASSERT_TRUE(file.ok());
  EXPECT_DOUBLE_EQ(file->metrics.at("kernel_cpu_ratio"), 0.25);
  EXPECT_THAT(profile->missing, Not(Contains(testing::Key("cpu_spread_ratio"))));
}

// A stressor that counts an operation when it begins has not done the last one.
TEST_F(SuiteRun, LeavesOutOperationsCountedEarly) {
  suite_.programs[0].run.early_operations = 1;
  options_.only = {"*.fork"};
  ASSERT_THAT(statuses(), ElementsAre("profiled"));
  const auto profile = read_suite_profile(options_.folder + "/stressng.fork.json");
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->work_units, 9);
  EXPECT_NEAR(profile->metrics.at("cpu_s"), 0.1 / 99 * 9, 1e-7);  // files keep six digits
}

TEST_F(SuiteRun, FilesHoldNoLocalPaths) {
  ASSERT_THAT(statuses(), ElementsAre("profiled", "profiled"));
  const auto text = read_file(options_.folder + "/stressng.fork.json");
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, AllOf(Not(HasSubstr(folder_.path())), Not(HasSubstr("/opt/")), HasSubstr("{work}/report.yaml")));
}

TEST_F(SuiteRun, GoesOnWhereItWasStopped) {
  int profiles = 0;
  const auto real = actions_.profile;
  actions_.profile = [&](const CollectRequest& request, const Progress& progress) -> Result<Profile> {
    if (++profiles == 2) return interrupted_error("interrupted by a signal");
    return real(request, progress);
  };
  const auto stopped = run();
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, "interrupted");
  EXPECT_THAT(stored_, ElementsAre("stressng.fork"));

  stored_.clear();
  EXPECT_THAT(statuses(), ElementsAre("kept", "profiled"));
  EXPECT_THAT(profiled_, testing::SizeIs(2));
  tools_.stress_ng.reset();  // what is there needs no tool, and reaches the corpus
  stored_.clear();
  EXPECT_THAT(statuses(), ElementsAre("kept", "kept"));
  EXPECT_THAT(stored_, ElementsAre("stressng.fork", "stressng.heapsort"));
  tools_.stress_ng = StressNg{"/opt/stress-ng", "0.20.01", {"fork", "heapsort"}};
  options_.again = true;
  EXPECT_THAT(statuses(), ElementsAre("profiled", "profiled"));
}

// Neighbours slow runs down; the fastest time ever seen stands.
TEST_F(SuiteRun, RetimesWithoutProfilingAgain) {
  ASSERT_THAT(statuses(), ElementsAre("profiled", "profiled"));
  options_.retime = true;
  EXPECT_THAT(statuses(), ElementsAre("kept", "kept"));
  factor_ = 0.5;
  EXPECT_THAT(statuses(), ElementsAre("retimed", "retimed"));
  factor_ = 2;
  EXPECT_THAT(statuses(), ElementsAre("kept", "kept"));
  const auto profile = read_suite_profile(options_.folder + "/stressng.fork.json");
  ASSERT_TRUE(profile.ok());
  EXPECT_DOUBLE_EQ(profile->metrics.at("cpu_s"), 0.005);
  EXPECT_THAT(profiled_, testing::SizeIs(2));
  EXPECT_EQ(std::count_if(profile->collectors.begin(), profile->collectors.end(),
                          [](const CollectorRecord& record) { return record.name == "suite"; }),
            1);
}

TEST_F(SuiteRun, DoesNotKeepABrokenFile) {
  ASSERT_THAT(statuses(), ElementsAre("profiled", "profiled"));
  std::ofstream(options_.folder + "/stressng.fork.json") << "{\"schema\": \"perfcast.pro";
  EXPECT_THAT(statuses(), ElementsAre("profiled", "kept"));
}

TEST_F(SuiteRun, SkipsAnUnknownStressorAndSaysSo) {
  tools_.stress_ng->stressors = {"heapsort"};
  const auto outcomes = run();
  ASSERT_TRUE(outcomes.ok());
  EXPECT_EQ((*outcomes)[0].status, "skipped");
  EXPECT_EQ((*outcomes)[0].reason, "stress-ng 0.20.01 does not know fork");
  EXPECT_EQ((*outcomes)[1].status, "profiled");
  EXPECT_THAT(profiled_, testing::SizeIs(1));
}

TEST_F(SuiteRun, RefusesAnotherVersionUnlessAsked) {
  tools_.stress_ng->version = "0.15.06";
  const auto outcomes = run();
  ASSERT_TRUE(outcomes.ok());
  EXPECT_EQ((*outcomes)[0].status, "skipped");
  EXPECT_THAT((*outcomes)[0].reason, AllOf(HasSubstr("0.15.06"), HasSubstr("0.20.01"), HasSubstr("--any-version")));
  EXPECT_THAT(profiled_, IsEmpty());

  options_.any_version = true;
  EXPECT_THAT(statuses(), ElementsAre("profiled", "profiled"));
  const auto profile = read_suite_profile(options_.folder + "/stressng.fork.json");
  ASSERT_TRUE(profile.ok());
  ASSERT_EQ(profile->warnings.size(), 1u);
  EXPECT_EQ(profile->warnings[0].code, "other-version");
}

TEST_F(SuiteRun, SkipsWhatHasNoTool) {
  tools_.stress_ng.reset();
  tools_.why_not["stress-ng"] = "stress-ng is not there";
  const auto outcomes = run();
  ASSERT_TRUE(outcomes.ok());
  EXPECT_EQ((*outcomes)[0].status, "skipped");
  EXPECT_EQ((*outcomes)[0].reason, "stress-ng is not there");
}

// One program that a preparation makes from a file of the suite.
Suite one_command() {
  Suite suite;
  suite.name = "apps";
  suite.folder = "/share/suites/apps";
  SuiteProgram entry;
  entry.program = {"apps.x", "x", "application", "apps", "run", "", ""};
  entry.run.tool = "command";
  entry.run.prepare = {{"sh", "-c", "cc {suite}/x.c -o {work}/x"}, {"sh", "-c", "mkdir {work}/in"}};
  entry.run.command = {"{work}/x", "-i", "{work}/in", "{suite}/x.c"};
  entry.run.packages = {"gcc", "libx-dev"};
  suite.programs.push_back(entry);
  return suite;
}

TEST_F(SuiteRun, PreparesACommandInAFolderOfItsOwn) {
  suite_ = one_command();
  const std::string work = folder_.path() + "/apps.x";
  actions_.run = [&](const std::vector<std::string>& command, double) -> Result<WorkReport> {
    if (ran_.empty()) {
      EXPECT_TRUE(std::filesystem::is_empty(work));
    }
    ran_.push_back(command);
    return WorkReport{0, 2, 1, 4};
  };
  actions_.profile = [&](const CollectRequest& request, const Progress&) -> Result<Profile> {
    Profile profile;
    profile.command = request.command;
    profile.exit_code = 0;
    profile.metrics["instructions_count"] = 1e9;
    ProfilePart part;
    part.program = "x";
    part.command = "/share/suites/apps/x.c " + work + "/in";
    part.metrics = {{"instructions_count", 123456789}, {"kernel_cpu_ratio", 0.5}};
    profile.parts = {part};
    return profile;
  };
  // What an earlier run has left is no input of this one.
  std::filesystem::create_directory(work);
  std::ofstream(work + "/left") << "behind";
  ASSERT_THAT(statuses(), ElementsAre("profiled"));
  ASSERT_EQ(ran_.size(), 4u);
  EXPECT_THAT(ran_[0], ElementsAre("sh", "-c", "cc /share/suites/apps/x.c -o " + work + "/x"));
  EXPECT_THAT(ran_[1], ElementsAre("sh", "-c", "mkdir " + work + "/in"));
  EXPECT_THAT(ran_[2], ElementsAre(work + "/x", "-i", work + "/in", "/share/suites/apps/x.c"));

  const auto profile = read_suite_profile(options_.folder + "/apps.x.json");
  ASSERT_TRUE(profile.ok()) << to_text(profile.error());
  EXPECT_EQ(profile->work_units, 1);
  EXPECT_DOUBLE_EQ(profile->metrics.at("cpu_s"), 3);
  EXPECT_THAT(profile->command, ElementsAre("x", "-i", "{work}/in", "{suite}/x.c"));
  ASSERT_EQ(profile->parts.size(), 1u);
  EXPECT_EQ(profile->parts[0].command, "{suite}/x.c {work}/in");
  EXPECT_EQ(profile->parts[0].metrics.at("instructions_count"), 123457000);
  EXPECT_THAT(profile->parts[0].metrics, Not(Contains(testing::Key("kernel_cpu_ratio"))));
}

TEST_F(SuiteRun, SaysWhichPackagesACommandNeeds) {
  suite_ = one_command();
  suite_.programs[0].run.needs = {"/no/such/header.h"};
  auto outcomes = run();
  ASSERT_TRUE(outcomes.ok());
  EXPECT_EQ((*outcomes)[0].status, "skipped");
  EXPECT_EQ((*outcomes)[0].reason, "/no/such/header.h is not there: apt install gcc libx-dev");

  suite_.programs[0].run.needs = {};
  suite_.programs[0].run.prepare = {{"no-such-compiler", "x.c"}};
  outcomes = run();
  ASSERT_TRUE(outcomes.ok());
  EXPECT_EQ((*outcomes)[0].reason, "no-such-compiler is not installed: apt install gcc libx-dev");
  EXPECT_THAT(ran_, IsEmpty());
}

TEST_F(SuiteRun, AFailedPreparationIsSaid) {
  suite_ = one_command();
  actions_.run = [](const std::vector<std::string>&, double) -> Result<WorkReport> {
    return Error{"program-failed", "a native run ended with exit code 1: no such header", "cc", "a program"};
  };
  const auto outcomes = run();
  ASSERT_TRUE(outcomes.ok());
  EXPECT_EQ((*outcomes)[0].status, "failed");
  EXPECT_THAT((*outcomes)[0].reason, AllOf(HasSubstr("preparing it failed"), HasSubstr("no such header")));
}

TEST_F(SuiteRun, LeavesOutExcludedPrograms) {
  suite_.programs[0].program.excluded = "machine-sized";
  suite_.programs[0].evidence = "one process per CPU";
  const auto outcomes = run();
  ASSERT_TRUE(outcomes.ok());
  EXPECT_EQ((*outcomes)[0].status, "excluded");
  EXPECT_EQ((*outcomes)[0].reason, "machine-sized: one process per CPU");
  options_.include_excluded = true;
  EXPECT_THAT(statuses(), ElementsAre("profiled", "kept"));
}

TEST_F(SuiteRun, AFailureIsNoProfile) {
  exit_code_ = 2;
  options_.only = {"*.fork"};
  const auto outcomes = run();
  ASSERT_TRUE(outcomes.ok());
  ASSERT_EQ(outcomes->size(), 1u);
  EXPECT_EQ((*outcomes)[0].status, "failed");
  EXPECT_THAT(stored_, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(options_.folder + "/stressng.fork.json"));
}

// An old report must not stand for a stressor that skipped itself.
TEST_F(SuiteRun, AStressorThatReportsNothingFails) {
  actions_.run = [](const std::vector<std::string>& command, double) -> Result<WorkReport> {
    std::ofstream(option(command, "--yaml")) << "metrics:\n";
    return WorkReport{0, 1, 0, 1};
  };
  const auto outcomes = run();
  ASSERT_TRUE(outcomes.ok());
  EXPECT_EQ((*outcomes)[0].status, "failed");
  EXPECT_THAT((*outcomes)[0].reason, HasSubstr("skipped or failed"));
}

TEST(SuiteProfile, DoubtsAnImpossibleRate) {
  SuiteProgram entry;
  entry.program.work_unit = "byte";
  Profile profile;
  profile.metrics["instructions_count"] = 1e11;
  settle_times(profile, entry, {10, 1, 0, 1}, {{10, 1, 0, 1}});
  ASSERT_EQ(profile.warnings.size(), 1u);
  EXPECT_EQ(profile.warnings[0].code, "other-code-path");
  profile.warnings.clear();
  profile.metrics["instructions_count"] = 1e10;
  settle_times(profile, entry, {10, 1, 0, 1}, {{10, 1, 0, 1}});
  EXPECT_THAT(profile.warnings, IsEmpty());
}

}  // namespace
}  // namespace perfcast
