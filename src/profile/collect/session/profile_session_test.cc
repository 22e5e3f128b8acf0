#include "profile/collect/session/profile_session.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "machine/facts/core_design.h"
#include "profile/collect/native/native_collector.h"
#include "profile/collect/session/doctor.h"
#include "profile/collect/session/profile_summary.h"
#include "profile/core/design.h"
#include "profile/trace/trace.h"
#include "profile/whole_metrics.h"

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Gives what the test prepared and remembers what it was asked.
class FakeCollector : public Collector {
 public:
  FakeCollector(std::string name, CollectResult result) : name_(std::move(name)), result_(std::move(result)) {
    if (result_) result_->record = {name_, "1", 0.5, "ok", ""};
  }
  std::string name() const override { return name_; }
  Status available() const override { return missing_ ? Status(*missing_) : Status(); }
  DoctorFinding examine() override { return {name(), "ok", "", ""}; }
  CollectResult collect(const CollectRequest& request) override {
    requests.push_back(request);
    return result_;
  }
  void make_unavailable(Error error) { missing_ = std::move(error); }
  std::vector<CollectRequest> requests;

 private:
  std::string name_;
  CollectResult result_;
  std::optional<Error> missing_;
};

Collection native_run(double wall_s, double user_s, int exit_code = 0) {
  Collection run;
  run.counters = {{"wall_s", wall_s}, {"user_s", user_s}, {"system_s", 0}, {"cpu_s", user_s}};
  run.exit_code = exit_code;
  run.instruction_set = "x86_64";
  return run;
}

Collection instrumented_run(double wall_s, double user_s, MetricValues counters = {}) {
  Collection run;
  run.counters = std::move(counters);
  run.counters.emplace("instructions_count", 1e9);
  run.exit_code = 0;
  run.run_wall_s = wall_s;
  run.run_user_s = user_s;
  return run;
}

class SessionTest : public testing::Test {
 protected:
  Result<Profile> profile(FakeCollector& native, FakeCollector* instrumenter, FakeCollector* fallback = nullptr) {
    SessionCollectors collectors;
    collectors.host.name = "A Processor";
    collectors.native = &native;
    collectors.instrumenter = instrumenter;
    collectors.fallback = fallback;
    return run_session(request_, collectors, [&](const std::string& text) { progress_.push_back(text); });
  }
  static std::vector<std::string> codes(const Profile& profile) {
    std::vector<std::string> result;
    for (const ProfileWarning& warning : profile.warnings) result.push_back(warning.code);
    return result;
  }
  CollectRequest request_ = [] {
    CollectRequest request;
    request.command = {"true", "argument"};
    return request;
  }();
  std::vector<std::string> progress_;
};

CensusEntry census_entry(pid_t process, const std::string& program, double cpu_s, double faults_count = 0) {
  CensusEntry entry;
  entry.process = process;
  entry.program = "/usr/bin/" + program;
  entry.cpu_s = cpu_s;
  entry.minor_faults_count = faults_count;
  return entry;
}

Collection with_census(Collection native) {
  native.census = {census_entry(1, "sh", 0.1, 50), census_entry(2, "cc1", 1.5, 1000), census_entry(3, "cc1", 2.5, 2000),
                   census_entry(4, "sudo", 0.9)};
  return native;
}

TEST_F(SessionTest, SaysWhoDidTheWorkAndWhatWasNotCounted) {
  FakeCollector native("native", with_census(native_run(5, 5)));
  Collection counted = instrumented_run(50, 50);
  counted.parts = {{"cc1", "cc1 a.c", 1, 2, {{"instructions_count", 900}}},
                   {"sh", "sh -c", 1, 1, {{"instructions_count", 100}}}};
  counted.unseen = {{"/usr/bin/sudo", "setuid", 1}};
  FakeCollector qemu("qemu", counted);
  const auto found = profile(native, &qemu);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_NEAR(found->accounted_cpu_ratio.value_or(0), 4.1 / 5, 1e-9);
  ASSERT_EQ(found->parts.size(), 2u);
  EXPECT_EQ(found->parts[0].program, "cc1");
  EXPECT_EQ(found->parts[0].processes_count, 2);
  EXPECT_EQ(found->parts[0].instrumented_count, 1);
  EXPECT_EQ(found->parts[0].cpu_s, 4);
  EXPECT_EQ(found->parts[0].metrics.at("page_faults_minor_count"), 3000);
  EXPECT_EQ(found->parts[0].metrics.at("instructions_count"), 900);
  ASSERT_THAT(codes(*found), ElementsAre("exec-not-followed"));
  EXPECT_THAT(found->warnings[0].message, HasSubstr("18% of the CPU time was not counted (sudo (18.0%)); not followed: "
                                                    "/usr/bin/sudo: setuid"));
  ASSERT_EQ(qemu.requests.size(), 1u);
  EXPECT_EQ(qemu.requests[0].census.size(), 4u);
}

TEST_F(SessionTest, KeepsReplicatesOfWhatWasSampled) {
  FakeCollector native("native", native_run(0.01, 0.01));
  Collection counted = instrumented_run(50, 50, {{"instructions_count", 1000}, {"loads_count", 100}});
  counted.replicates = {{{"instructions_count", 1000}, {"loads_count", 90}},
                        {{"instructions_count", 1000}, {"loads_count", 110}}};
  FakeCollector qemu("qemu", counted);
  const auto found = profile(native, &qemu);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->replicates.size(), 2u);
  EXPECT_EQ(found->replicates[0].at("loads_count"), 90);
  EXPECT_EQ(found->replicates[0].count("instructions_count"), 0u);  // the same in all
}

// A piece of `runs` executions of a block of four additions, each of which waits for the one before.
std::shared_ptr<const Trace> trace_of_additions(uint64_t runs) {
  TraceInstruction add;
  add.size_bytes = 4;
  add.registers = {1, 1};
  add.register_counts = {1, 0, 1};
  TraceBlock block;
  block.address = 0x1000;
  block.fall_through = 0x1010;
  block.instructions = {add, add, add, add};
  ProcessTrace process;
  process.program = "additions";
  process.instruction_set = "x86_64";
  process.classes = {"int_alu"};
  process.blocks = {block};
  TracePiece piece;
  piece.stands_for_count = 40 * runs;
  piece.instructions_count = 4 * runs;
  piece.events = std::string(runs, '\0');
  process.pieces = {piece};
  Trace trace;
  trace.processes = {process};
  return std::make_shared<const Trace>(trace);
}

TEST_F(SessionTest, RunsTheWindowsOnModelsOfCores) {
  FakeCollector native("native", native_run(0.01, 0.01));
  Collection counted = instrumented_run(50, 50, {{"instructions_count", 1e6}});
  counted.trace = trace_of_additions(1000);
  FakeCollector qemu("qemu", counted);
  const auto without = profile(native, &qemu);
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_EQ(without->metrics.count("core_zen3_cycles_count"), 0u);
  EXPECT_THAT(without->missing.at("core_zen3_cycles_count"), HasSubstr("not needed"));

  auto designs = read_core_designs(std::string(PERFCAST_SOURCE_DIR) + "/data/cores/designs.json");
  ASSERT_TRUE(designs) << designs.error().message;
  request_.core_designs = std::make_shared<const std::vector<CoreDesign>>(std::move(*designs));
  const auto found = profile(native, &qemu);
  ASSERT_TRUE(found) << found.error().message;
  for (const CoreDesign& design : *request_.core_designs) {
    ASSERT_EQ(found->metrics.count(core_cycles_metric(design.name)), 1u) << design.name;
    EXPECT_NEAR(found->metrics.at(core_cycles_metric(design.name)), 1e6, 0.02e6) << design.name;  // a cycle each
  }
  EXPECT_EQ(found->collectors.back().name, "cores");

  auto broken = std::make_shared<Trace>(*trace_of_additions(10));
  broken->processes[0].pieces[0].events = "\xff\xff\x7f";
  Collection unreadable = counted;
  unreadable.trace = broken;
  FakeCollector other("qemu", unreadable);
  const auto kept = profile(native, &other);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(kept->metrics.at("instructions_count"), 1e6);
  EXPECT_EQ(kept->collectors.back().status, "failed");
}

TEST_F(SessionTest, ABeginningThatStandsForAllIsComparedWithTheRest) {
  Collection native_collection = native_run(100, 100);
  native_collection.course.assign(10, CourseInterval{.length_s = 10, .running_count = 1, .resident_bytes = 1 << 20});
  for (size_t i = 4; i < 10; ++i) native_collection.course[i].system_ratio = 0.1;
  FakeCollector native("native", native_collection);
  Collection counted = instrumented_run(180, 180, {{"instructions_count", 1000}});
  counted.exit_code.reset();
  counted.seen_ratio = 0.4;
  FakeCollector qemu("qemu", counted);
  const auto found = profile(native, &qemu);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(found->partly_seen.has_value());
  EXPECT_DOUBLE_EQ(found->partly_seen->seen_ratio, 0.4);
  EXPECT_NEAR(found->partly_seen->unlike_ratio, 0.6 * 0.5, 1e-9);
  ASSERT_THAT(codes(*found), ElementsAre("partly-seen"));
  EXPECT_THAT(found->warnings[0].message, HasSubstr("with about 40% of the work done"));
  EXPECT_THAT(found->warnings[0].message, HasSubstr("0% and 10% in the kernel"));
}

// 1000 M instructions were counted of a program of 2000 M or 8000 M, as the hardware says.
TEST_F(SessionTest, ACutRunHasCountsWhereTheWholeIsKnown) {
  for (const double whole : {2e9, 8e9}) {
    Collection native_collection = native_run(100, 100);
    native_collection.counters["hw_instructions_count"] = whole;
    FakeCollector native("native", native_collection);
    Collection counted = instrumented_run(180, 180, {{"instructions_count", 1e9}, {"loads_count", 3e8}});
    counted.exit_code.reset();
    counted.stretch(50);  // by a typical rate
    counted.seen_ratio = 0.02;
    FakeCollector qemu("qemu", counted);
    const auto found = profile(native, &qemu);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(found->partly_seen);
    EXPECT_DOUBLE_EQ(found->partly_seen->seen_ratio, 1e9 / whole);
    EXPECT_DOUBLE_EQ(found->metrics.at("instructions_count"), whole);
    EXPECT_DOUBLE_EQ(found->metrics.at("loads_count"), 0.3 * whole);
    EXPECT_EQ(found->partly_seen->knows_whole_counts, whole == 2e9);
    EXPECT_EQ(whole_metrics(*found).contains("loads_count"), whole == 2e9);
    EXPECT_THAT(found->warnings[0].message,
                HasSubstr(whole == 2e9 ? "with 50% of its instructions run: the rest"
                                       : "with 12% of its instructions run: the profile has no "
                                         "counts and ratios of the whole"));
  }
}

TEST_F(SessionTest, OnlyNotesWhatHardlyCounts) {
  Collection native_collection = with_census(native_run(5, 5));
  native_collection.census.back().cpu_s = 0.1;
  FakeCollector native("native", native_collection);
  Collection counted = instrumented_run(50, 50);
  counted.parts = {{"cc1", "cc1 a.c", 2, 2, {{"instructions_count", 900}}},
                   {"sh", "sh -c", 1, 1, {{"instructions_count", 100}}}};
  counted.unseen = {{"/usr/bin/sudo", "setuid", 3}};
  FakeCollector qemu("qemu", counted);
  const auto found = profile(native, &qemu);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->warnings, IsEmpty());
  EXPECT_THAT(found->collectors.back().note,
              HasSubstr("2.4% of the CPU time was not counted; not followed: /usr/bin/sudo: setuid, 3 times"));
}

TEST_F(SessionTest, JoinsCollectorsAndDerives) {
  FakeCollector native("native", native_run(0.5, 0.5));
  FakeCollector qemu("qemu", instrumented_run(5, 5, {{"instructions_count", 2e9}, {"op_int_alu_count", 5e8}}));
  FakeCollector cachegrind("cachegrind", Collection{});
  const auto found = profile(native, &qemu, &cachegrind);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->program, "true");
  EXPECT_THAT(found->command, ElementsAre("true", "argument"));
  EXPECT_EQ(found->host.name, "A Processor");
  EXPECT_EQ(found->instruction_set, "x86_64");
  EXPECT_EQ(found->exit_code, 0);
  EXPECT_TRUE(found->ok());
  EXPECT_EQ(found->metrics.at("instructions_per_s"), 4e9);
  EXPECT_EQ(found->metrics.at("int_alu_per_instruction_ratio"), 0.25);
  EXPECT_THAT(codes(*found), IsEmpty());
  ASSERT_EQ(found->collectors.size(), 2u);
  EXPECT_EQ(found->collectors[1].name, "qemu");
  EXPECT_EQ(found->started_utc.size(), 20u);
  EXPECT_THAT(progress_, ElementsAre("running true instrumented ..."));  // the first run has the terminal for itself
  EXPECT_TRUE(cachegrind.requests.empty());
  // The output passes once.
  EXPECT_TRUE(native.requests.at(0).pass_output);
  EXPECT_FALSE(qemu.requests.at(0).pass_output);
}

TEST_F(SessionTest, SaysWhyEveryOtherMetricIsMissing) {
  FakeCollector native("native", native_run(0.5, 0.5));
  FakeCollector qemu("qemu", instrumented_run(5, 5));
  const auto found = profile(native, &qemu);
  ASSERT_TRUE(found);
  for (const Metric& metric : Catalogue::built_in().metrics()) {
    if (metric.imported || metric.of_kernel) {  // no collector of ours gives it, here or anywhere
      EXPECT_FALSE(found->missing.contains(metric.name)) << metric.name;
      continue;
    }
    const bool measured = found->metrics.contains(metric.name);
    EXPECT_NE(measured, found->missing.contains(metric.name)) << metric.name;
    if (measured) continue;
    EXPECT_THAT(found->missing.at(metric.name), Not(IsEmpty())) << metric.name;
  }
  EXPECT_EQ(found->missing.at("gpu_to_cpu_bytes_per_s"), "no GPU collector");
  EXPECT_EQ(found->missing.at("cachegrind_instructions_count"), "cachegrind: not needed");
}

TEST_F(SessionTest, KeepsAndMarksAFailedProgram) {
  FakeCollector native("native", native_run(0.5, 0.5, 3));
  Collection same = instrumented_run(5, 5);
  same.exit_code = 3;
  FakeCollector qemu("qemu", same);
  const auto found = profile(native, &qemu);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->exit_code, 3);
  EXPECT_FALSE(found->ok());
  EXPECT_THAT(codes(*found), ElementsAre("non-zero-exit"));
}

TEST_F(SessionTest, MarksAKilledProgram) {
  Collection killed = native_run(0.5, 0.5);
  killed.exit_code.reset();
  killed.signal = 11;
  FakeCollector native("native", killed);
  FakeCollector qemu("qemu", {RunEnd::kProgramFailed,
                              Error{"instrumenter-failed", "QEMU ended without counts, by signal 11", "", ""}});
  const auto found = profile(native, &qemu);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->signal, 11);
  EXPECT_THAT(codes(*found), ElementsAre("killed-by-signal"));
  EXPECT_EQ(found->missing.at("instructions_count"), "qemu: QEMU ended without counts, by signal 11");
}

TEST_F(SessionTest, InstrumentsNoFailureWhereItMustSucceed) {
  Collection failed = native_run(0.5, 0.5);
  failed.exit_code = 3;
  for (const bool must_succeed : {false, true}) {
    FakeCollector native("native", failed);
    Collection counted = instrumented_run(5, 5);
    counted.exit_code = 3;
    FakeCollector qemu("qemu", counted);
    request_.must_succeed = must_succeed;
    const auto found = profile(native, &qemu);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->exit_code, 3);
    EXPECT_EQ(found->metrics.contains("instructions_count"), !must_succeed);
  }
}

TEST_F(SessionTest, SaysWhenTheInstrumentedRunEndedDifferently) {
  FakeCollector native("native", native_run(0.5, 0.5));
  Collection other = instrumented_run(5, 5);
  other.exit_code = 1;
  other.last_words = "no space left";
  FakeCollector qemu("qemu", other);
  const auto found = profile(native, &qemu);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->exit_code, 0);
  ASSERT_THAT(codes(*found), ElementsAre("runs-differ"));
  EXPECT_THAT(found->warnings[0].message,
              HasSubstr("natively the program ended with exit code 0, instrumented with exit code 1"));
  EXPECT_THAT(found->warnings[0].message, EndsWith("; its last words: no space left"));
  EXPECT_FALSE(found->metrics.contains("instructions_count"));
  EXPECT_EQ(found->metrics.at("cpu_s"), 0.5);
}

TEST_F(SessionTest, FallsBackWhereAnExecIsNotFollowed) {
  FakeCollector native("native", native_run(0.5, 0.5));
  FakeCollector qemu("qemu", Error{"exec-not-followed", "the program starts /bin/x", "true", "the command itself"});
  Collection other;
  other.counters = {{"cachegrind_instructions_count", 77}};
  FakeCollector cachegrind("cachegrind", other);
  const auto found = profile(native, &qemu, &cachegrind);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->metrics.at("program_instructions_count"), 77);
  EXPECT_FALSE(found->metrics.contains("instructions_count"));
  ASSERT_THAT(codes(*found), ElementsAre("exec-not-followed"));
  EXPECT_THAT(found->warnings[0].message, HasSubstr("cachegrind counted instead"));
}

TEST_F(SessionTest, NamesAMissingTool) {
  FakeCollector native("native", native_run(0.5, 0.5));
  FakeCollector qemu("qemu", Collection{});
  qemu.make_unavailable({"tool-missing", "qemu-x86_64 is not installed", "", "apt install qemu-user"});
  FakeCollector cachegrind("cachegrind", Collection{});
  cachegrind.make_unavailable({"tool-missing", "valgrind is not installed", "", "apt install valgrind"});
  const auto found = profile(native, &qemu, &cachegrind);
  ASSERT_TRUE(found);
  ASSERT_THAT(codes(*found), ElementsAre("tool-missing"));
  EXPECT_EQ(found->warnings[0].advice, "apt install qemu-user");
  EXPECT_EQ(found->missing.at("instructions_count"), "qemu: qemu-x86_64 is not installed: apt install qemu-user");
  EXPECT_TRUE(qemu.requests.empty());
}

TEST_F(SessionTest, StopsWhereInterrupted) {
  FakeCollector native("native", native_run(0.5, 0.5));
  FakeCollector qemu("qemu", interrupted_error(""));
  FakeCollector cachegrind("cachegrind", Collection{});
  EXPECT_EQ(profile(native, &qemu, &cachegrind).error().code, "interrupted");
  EXPECT_TRUE(cachegrind.requests.empty());
}

TEST_F(SessionTest, KeepsTheNativeRunWhereTheLimitEndsTheOther) {
  request_.limit_s = 60;
  FakeCollector native("native", native_run(0.5, 0.5));
  FakeCollector qemu("qemu", {RunEnd::kLimit, Error{"limit-reached", "did not end", "", "a higher --limit"}});
  FakeCollector cachegrind("cachegrind", Collection{});
  const auto found = profile(native, &qemu, &cachegrind);
  ASSERT_TRUE(found);
  EXPECT_THAT(codes(*found), ElementsAre("limit-reached"));
  EXPECT_TRUE(cachegrind.requests.empty());
  EXPECT_LE(qemu.requests.at(0).limit_s, 60);
  FakeCollector slow("native", {RunEnd::kLimit, Error{"limit-reached", "did not end", "", ""}});
  EXPECT_EQ(profile(slow, &qemu).error().code, "limit-reached");
}

TEST_F(SessionTest, BeginsNoInstrumentedRunWithoutTime) {
  request_.limit_s = 0.05;
  FakeCollector native("native", native_run(0.05, 0.05));
  FakeCollector qemu("qemu", instrumented_run(5, 5));
  const auto found = profile(native, &qemu);
  ASSERT_TRUE(found);
  EXPECT_THAT(codes(*found), ElementsAre("limit-reached"));
  EXPECT_TRUE(qemu.requests.empty());
  EXPECT_EQ(found->missing.at("instructions_count"), "qemu: the native run used up the time limit");
}

TEST_F(SessionTest, TakesTheMixAlone) {
  request_.mix_only = true;
  FakeCollector native("native", native_run(0.5, 0.5));
  FakeCollector qemu("qemu", instrumented_run(5, 5));
  const auto found = profile(native, &qemu);
  ASSERT_TRUE(found);
  EXPECT_TRUE(native.requests.empty());
  EXPECT_TRUE(qemu.requests.at(0).pass_output);
  EXPECT_EQ(found->exit_code, 0);
  EXPECT_EQ(found->missing.at("wall_s"), "native: only the opcode mix was asked for");
}

TEST_F(SessionTest, CrossChecksOnDemand) {
  request_.cross_check = true;
  request_.pass_output = false;
  FakeCollector native("native", native_run(0.01, 0.01));
  FakeCollector qemu("qemu", instrumented_run(5, 5, {{"instructions_count", 100}}));
  Collection other;
  other.counters = {{"cachegrind_instructions_count", 98}};
  FakeCollector cachegrind("cachegrind", other);
  const auto found = profile(native, &qemu, &cachegrind);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->metrics.at("cachegrind_instruction_agreement_ratio"), 0.98);
  EXPECT_EQ(found->metrics.at("program_instructions_count"), 100);
  EXPECT_THAT(progress_, ElementsAre("running true natively ...", "running true instrumented ...",
                                     "running true under cachegrind (cross-check) ..."));
}

// --- clock-bound ---

TEST(ClockBound, IsABusyLoopUntilATime) {
  const Collection native = native_run(1.0, 0.99);
  EXPECT_TRUE(is_clock_bound(native, instrumented_run(1.1, 1.05, {{"sys_time_count", 10000}})));
  // Fixed work that looks at the clock now and then.
  EXPECT_FALSE(is_clock_bound(native, instrumented_run(9, 9, {{"sys_time_count", 10000}})));
  // Hardly slower, as where memory latency dominates, but never looks at a clock.
  EXPECT_FALSE(is_clock_bound(native, instrumented_run(1.8, 1.8)));
}

TEST(ClockBound, IsAProgramThatSleeps) {
  const Collection native = native_run(1.0, 0.01);
  EXPECT_TRUE(is_clock_bound(native, instrumented_run(1.1, 0.1, {{"sys_sleep_count", 1}})));
  // Waits for something else, such as a disk.
  EXPECT_FALSE(is_clock_bound(native, instrumented_run(1.1, 0.1)));
}

TEST(ClockBound, IsNotJudgedOnShortRuns) {
  EXPECT_FALSE(is_clock_bound(native_run(0.02, 0.02), instrumented_run(0.1, 0.1, {{"sys_time_count", 10}})));
}

// --- native, replay, texts ---

TEST(NativeCollector, MeasuresSeveralRuns) {
  NativeCollector native(HostFacts{});
  CollectRequest request;
  request.command = {PERFCAST_GUINEA, "write", "409600"};
  request.pass_output = false;
  request.native_repeats = 4;
  const auto found = native.collect(request);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->counters.at("native_runs_count"), 4);
  EXPECT_EQ(found->counters.at("io_written_bytes"), 409600);
  EXPECT_EQ(found->counters.at("io_write_calls_count"), 100);
  EXPECT_GT(found->counters.at("wall_s"), 0);
  EXPECT_TRUE(found->counters.contains("cpu_spread_ratio"));
  EXPECT_EQ(found->exit_code, 0);
  // Without a processor's facts nothing tells the page levels.
  EXPECT_TRUE(found->missing.contains("page_table_levels_count"));
}

TEST(NativeCollector, MeasuresOnceWhereItMustBeQuick) {
  NativeCollector native(HostFacts{});
  CollectRequest request;
  request.command = {PERFCAST_GUINEA, "write", "4096"};
  request.pass_output = false;
  request.quick = true;
  const auto found = native.collect(request);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->counters.at("native_runs_count"), 1);
  EXPECT_FALSE(found->counters.contains("cpu_spread_ratio"));
}

TEST(NativeCollector, DoesNotRepeatAFailure) {
  NativeCollector native(HostFacts{});
  CollectRequest request;
  request.command = {PERFCAST_GUINEA, "exit", "5"};
  const auto found = native.collect(request);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->exit_code, 5);
  EXPECT_EQ(found->counters.at("native_runs_count"), 1);
  EXPECT_EQ(found->missing.at("wall_spread_ratio"), "there was one run only");
}

TEST(NativeCollector, TellsWhatCannotBeRepeated) {
  NativeCollector native(HostFacts{});
  const std::string mark = testing::TempDir() + "perfcast-mark";
  rmdir(mark.c_str());
  CollectRequest request;
  request.command = {"mkdir", mark};
  request.pass_output = false;
  const auto found = native.collect(request);
  rmdir(mark.c_str());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->exit_code, 0);
  EXPECT_EQ(found->warnings.at(0).code, "runs-differ");
}

TEST(NativeCollector, EndsAtTheLimit) {
  NativeCollector native(HostFacts{});
  CollectRequest request;
  request.command = {PERFCAST_GUINEA, "sleep", "20000"};
  request.limit_s = 0.1;
  EXPECT_EQ(native.collect(request).error().code, "limit-reached");
}

TEST(ProfileSummary, ShowsWhatIsThereAndNothingElse) {
  Profile profile;
  profile.program = "a\x1b[31m";
  profile.instruction_set = "x86_64";
  profile.metrics = {{"instructions_count", 1000},
                     {"op_mov_count", 400},
                     {"op_int_alu_count", 100},
                     {"wall_s", 0.25},
                     {"program_instructions_count", 1000}};
  profile.warnings = {{"clock-bound", "bound", "fixed work"}, {"noisy-host", "varied", ""}};
  EXPECT_EQ(profile_summary(profile),
            "  program       a?[31m   x86_64\n"
            "  wall          250 ms\n"
            "  instructions  1 k\n"
            "  mix           mov 40%   int_alu 10%\n"
            "\n  warning: bound\n    advice: fixed work\n"
            "\n  note: varied\n");
}

TEST(Doctor, PrintsALineEach) {
  HostFacts host;
  host.name = "A Processor";
  host.arch = "x86_64";
  host.logical_cpus = 2;
  host.kernel = "6.1";
  const std::vector<DoctorFinding> findings = {{"native", "ok", "time", ""},
                                               {"qemu", "missing", "not installed", "apt install qemu-user"}};
  EXPECT_EQ(findings_as_text(host, findings),
            "A Processor, 2 CPUs, x86_64\n"
            "unknown system, kernel 6.1, hypervisor unknown\n\n"
            "ok       native        time\n"
            "missing  qemu          not installed\n"
            "                       -> apt install qemu-user\n");
  const Json json = findings_as_json(host, findings);
  EXPECT_EQ(json["schema"], "perfcast.doctor/1");
  EXPECT_EQ(json["host"]["cpu_model"], "A Processor");
  EXPECT_EQ(json["findings"][1]["status"], "missing");
}

TEST(Doctor, FindsMissingFiles) {
  const auto findings = examine_files("/nonexistent/corpus.db", PERFCAST_GUINEA);
  EXPECT_EQ(findings.at(0).name, "bundle");
  EXPECT_EQ(findings.at(0).status, "ok");
  EXPECT_EQ(findings.at(1).status, "missing");
  EXPECT_THAT(findings.at(1).advice, HasSubstr("perfcast import"));
}

}  // namespace
}  // namespace perfcast
