#include "measure/diagnose/find/rules.h"

#include <gtest/gtest.h>

#include "measure/diagnose/find/testing/busy_program.h"

namespace perfcast::measure {
namespace {

TEST(Rules, FindNothingInABusyLoop) { EXPECT_TRUE(find_causes(evidence_of(busy())).empty()); }

TEST(Rules, RankByWhatIsToBeGained) {
  Observation seen = busy();
  set_role(seen, CodeRole::kAllocation, 0.3);
  set_role(seen, CodeRole::kException, 0.5);
  set_role(seen, CodeRole::kCopy, 0.04);
  const auto findings = find_causes(evidence_of(seen));
  EXPECT_EQ(causes_of(findings), (std::vector<std::string>{"exceptions", "allocation"}));
  EXPECT_NEAR(findings[0].gain_ratio, 0.95 * 0.5, 1e-9);
  EXPECT_NEAR(findings[1].gain_ratio, 0.8 * 0.3, 1e-9);
  for (const Finding& finding : findings) {
    EXPECT_FALSE(finding.evidence.empty());
    EXPECT_FALSE(finding.advice.empty());
    EXPECT_FALSE(finding.if_wrong.empty());
    EXPECT_FALSE(finding.proof.empty());
  }
}

TEST(Rules, BlameTheLocaleWhereThereIsOne) {
  Observation seen = busy();
  set_role(seen, CodeRole::kText, 0.6);
  Evidence evidence = evidence_of(seen);
  EXPECT_TRUE(find_causes(evidence).empty());
  evidence.environment = {{"LANG", "de_DE.UTF-8"}, {"LC_ALL", "C"}};
  EXPECT_TRUE(find_causes(evidence).empty());
  evidence.environment = {{"LANG", "de_DE.UTF-8"}, {"LC_ALL", ""}};
  const auto findings = find_causes(evidence);
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"locale"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.8 * 0.6, 1e-9);
  ASSERT_EQ(findings[0].experiments.size(), 1U);
  EXPECT_EQ(findings[0].experiments[0].in_words(), "LC_ALL=C");
}

TEST(Rules, KnowQueriesThatGoThroughAllRows) {
  const std::string library = "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6";
  Observation seen = busy();
  seen.functions = {of_library("sqlite3VdbeExec", library, 0.6), of_library("sqlite3BtreeNext", library, 0.1)};
  const auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"table-scan"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.5 * 0.7, 1e-9);
  EXPECT_EQ(findings[0].basis, FindingBasis::kRule);
  // By an index it searches more than it steps.
  seen.functions.push_back(of_library("sqlite3BtreeIndexMoveto", library, 0.2));
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
}

TEST(Rules, SayWhereToLookInAScript) {
  Observation seen = busy();
  seen.functions = {of_library("_PyEval_EvalFrameDefault", "/usr/bin/python3.11", 0.5)};
  const auto notes = notes_on_interpreters(seen);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].substr(0, 47), "50% of the CPU time is the Python interpreter's");
  seen.functions[0].cpu_share = 0.39;
  EXPECT_TRUE(notes_on_interpreters(seen).empty());
}

TEST(Rules, TellSearchesFromHashTables) {
  Observation seen = busy();
  set_role(seen, CodeRole::kCompare, 0.4);
  EXPECT_EQ(causes_of(find_causes(evidence_of(seen))), std::vector<std::string>{"linear-search"});
  HotFunction function;
  function.function = "std::_Hash_bytes(void const*, unsigned long, unsigned long)";
  function.cpu_share = 0.25;
  seen.functions = {function};
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
  seen.functions[0].cpu_share = 0.05;
  EXPECT_EQ(find_causes(evidence_of(seen)).size(), 1U);
}

TEST(Rules, CountOnlyWhatTheProgramWasBusyWith) {
  Observation seen = busy();
  seen.run.wall_s = 4;
  set_role(seen, CodeRole::kAllocation, 0.5);
  EXPECT_NEAR(find_causes(evidence_of(seen)).front().gain_ratio, 0.8 * 0.5 / 4, 1e-9);
  // Beside other programs it waits for a CPU; alone it would run.
  seen.ready_s = 2;
  EXPECT_NEAR(find_causes(evidence_of(seen)).front().gain_ratio, 0.8 * 0.5 * 3 / 4, 1e-9);
}

TEST(Rules, KnowSmallReadsByTheirNumberAndSize) {
  Observation seen = busy();
  seen.run.io.emplace();
  seen.run.io->read_bytes = 1e6;
  seen.run.io->read_calls = 1e6;
  const auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"small-io"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.95 * 1e6 * 200e-9, 1e-9);
  seen.run.io->read_bytes = 64e9;
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
}

TEST(Rules, BlameFaultsForPagesThatComeAgain) {
  Observation seen = busy();
  seen.run.user_s = 0.2;
  seen.run.system_s = 0.8;
  seen.run.minor_faults = 1e6;
  seen.run.peak_resident_bytes = 4096.0 * 1000;
  const auto again = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(again), std::vector<std::string>{"page-faults"});
  EXPECT_NEAR(again[0].gain_ratio, 0.9 * 0.5 * (1 - 1e-3), 1e-9);
  // Each page once: most of it can't be had for nothing.
  seen.run.peak_resident_bytes = 4096.0 * 1e6;
  EXPECT_NEAR(find_causes(evidence_of(seen)).front().gain_ratio, 0.9 * 0.5 * 0.2, 1e-9);
}

TEST(Rules, CountStarts) {
  Observation seen = busy();
  seen.processes_started_count = 400;
  seen.programs_started_count = 401;
  const auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"process-starts"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.95 * 0.4, 1e-9);
  seen.shim = "/opt/shims/python3";
  seen.started_by_shim = "/opt/3.11/bin/python3.11";
  const auto of_shim = find_causes(evidence_of(seen));
  EXPECT_EQ(of_shim[0].evidence.back(), "/opt/shims/python3 starts programs to find the one that it runs");
  EXPECT_EQ(of_shim[0].advice, "run /opt/3.11/bin/python3.11 directly");
}

TEST(Rules, TellContentionFromWaitingForTheEnd) {
  Observation seen = busy();
  seen.run.threads = 3;
  seen.run.wall_s = 1;
  seen.run.user_s = 1;
  seen.threads.s = {};
  seen.threads.s[static_cast<size_t>(ThreadState::kRunning)] = 1;
  seen.threads.s[static_cast<size_t>(ThreadState::kJoin)] = 5;
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
  seen.threads.s[static_cast<size_t>(ThreadState::kLock)] = 1;
  const auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"lock-contention"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.9 * 0.5, 1e-9);
}

TEST(Rules, KnowWhichWaitsAreToBeHad) {
  Observation seen = busy();
  seen.run.user_s = 0.2;
  seen.first_thread.s = {};
  seen.first_thread.s[static_cast<size_t>(ThreadState::kRunning)] = 0.2;
  seen.first_thread.s[static_cast<size_t>(ThreadState::kStorage)] = 0.6;
  seen.first_thread.s[static_cast<size_t>(ThreadState::kTerminal)] = 0.2;
  const auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), (std::vector<std::string>{"serial-io", "waiting-for-a-terminal"}));
  EXPECT_NEAR(findings[0].gain_ratio, 0.9 * 0.6, 1e-9);
  EXPECT_EQ(findings[1].gain_ratio, 0);
}

TEST(Rules, ReadTheCompilersOptions) {
  Observation seen = busy();
  HotFunction function;
  function.function = "work";
  function.cpu_share = 0.9;
  function.compiler = "GNU C++20 12.2.0 -mtune=generic -march=x86-64 -g -O2";
  seen.functions = {function};
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
  seen.functions[0].compiler = "GNU C++20 12.2.0 -mtune=generic -march=x86-64 -g";
  ASSERT_EQ(causes_of(find_causes(evidence_of(seen))), std::vector<std::string>{"unoptimised-code"});
  seen.functions[0].compiler = "GNU C++20 12.2.0 -mtune=generic -O2 -O0";
  EXPECT_EQ(causes_of(find_causes(evidence_of(seen))), std::vector<std::string>{"unoptimised-code"});
  // Another compiler does not say: nothing is blamed on it.
  seen.functions[0].compiler = "Debian clang version 14.0.6";
  EXPECT_TRUE(find_causes(evidence_of(seen)).empty());
}

TEST(Rules, BlameNoCounterThatWasNotMeasured) {
  Observation seen = busy();
  Profile profile;
  CoreDesign design;
  design.name = "some";
  design.clock_hz = 1e9;
  design.mispredict_cycles = 20;
  Evidence evidence = evidence_of(seen);
  evidence.profile = &profile;
  evidence.design = &design;
  EXPECT_TRUE(find_causes(evidence).empty());
  profile.metrics["branches_count"] = 1e8;
  EXPECT_TRUE(find_causes(evidence).empty());
  profile.metrics["tage_misses_count"] = 2e7;
  const auto findings = find_causes(evidence);
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"branch-misses"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.8 * 2e7 * 20 / 1e9, 1e-9);
  EXPECT_EQ(findings[0].basis, FindingBasis::kModelled);
}

TEST(Rules, LetSpinningCostWhatOthersWaitForACpu) {
  Observation seen = busy();
  seen.run.threads = 2;
  seen.run.user_s = 1.5;
  set_role(seen, CodeRole::kYield, 0.3);
  // Nobody else wants that CPU: only a trial may find a gain.
  auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"busy-waiting"});
  EXPECT_TRUE(findings[0].is_shown_by_trial);
  EXPECT_EQ(findings[0].gain_ratio, 0);
  // Nor do more want one than there are: what is ready waits for other programs.
  seen.ready_s = 0.5;
  findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"busy-waiting"});
  EXPECT_TRUE(findings[0].is_shown_by_trial);
  EXPECT_EQ(findings[0].gain_ratio, 0);
  seen.run.threads = 3;
  seen.run.user_s = 1.9;
  findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"busy-waiting"});
  EXPECT_FALSE(findings[0].is_shown_by_trial);
  EXPECT_NEAR(findings[0].gain_ratio, 1 - 2 / 2.4, 1e-9);
}

TEST(Rules, BoundDivisionsByTheirCounts) {
  Observation seen = busy();
  HotFunction function;
  function.function = "hash";
  function.cpu_share = 1;
  function.divide_share = 0.4;
  seen.functions = {function};
  Evidence evidence = evidence_of(seen);
  auto findings = find_causes(evidence);
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"division"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.9 * 0.4, 1e-9);
  Profile profile;
  CoreDesign design;
  design.name = "some";
  design.clock_hz = 1e9;
  design.ops[static_cast<size_t>(CoreOp::kDivide64)] = {14, 10};
  profile.metrics = {
      {"int_div_32_count", 0}, {"int_div_64_count", 2e7}, {"op_fp_scalar_div_count", 0}, {"op_fp_vec_div_count", 0}};
  evidence.profile = &profile;
  evidence.design = &design;
  // The divider is busy a fifth of the time: what waits for the rest is something else.
  EXPECT_TRUE(find_causes(evidence).empty());
  profile.core_bounds["some"] = {{"divide", 0.25}};
  EXPECT_NEAR(find_causes(evidence).front().gain_ratio, 0.9 * 0.25, 1e-9);
  profile.metrics["int_div_64_count"] = 9e7;
  EXPECT_NEAR(find_causes(evidence).front().gain_ratio, 0.9 * 0.4, 1e-9);
}

TEST(Rules, KeepTheUsersTunables) {
  const Observation seen = busy();
  Evidence evidence = evidence_of(seen);
  EXPECT_EQ(evidence.tuned("glibc.malloc.hugetlb=1"), "glibc.malloc.hugetlb=1");
  evidence.environment["GLIBC_TUNABLES"] = "glibc.malloc.check=3:glibc.malloc.hugetlb=0:glibc.cpu.hwcaps=-AVX2";
  EXPECT_EQ(evidence.tuned("glibc.malloc.hugetlb=1"),
            "glibc.malloc.check=3:glibc.cpu.hwcaps=-AVX2:glibc.malloc.hugetlb=1");
}

TEST(Rules, TakeTheCurveForEvidence) {
  Observation seen = busy();
  ThreadCurve curve;
  curve.is_obeyed = true;
  curve.points.resize(2);
  curve.points[0].threads = 1;
  curve.points[0].median_wall_s = 1.5;
  curve.points[1].threads = 2;
  curve.points[1].median_wall_s = 1;
  curve.points[1].speed_up_ratio = 1.5;
  curve.serial = SerialShare{1.5, 1.0 / 3, 0.3, 0.36};
  Evidence evidence = evidence_of(seen);
  evidence.curve = &curve;
  auto findings = find_causes(evidence);
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"serial-part"});
  // A third of 1.5 s runs alone: of 1 s with two CPUs a quarter would go.
  EXPECT_NEAR(findings[0].gain_ratio, 0.8 * 0.25, 1e-9);
  EXPECT_EQ(findings[0].evidence[0], "speed-up by threads: 1: 1.00 2: 1.50");
  // It may be none.
  curve.serial->lower = -0.1;
  EXPECT_TRUE(find_causes(evidence).empty());
  // One thread is faster than what it starts by itself.
  curve.points[0].median_wall_s = 0.5;
  evidence.command_of_threads = {"prog", "-t{threads}"};
  findings = find_causes(evidence);
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"thread-count"});
  EXPECT_TRUE(findings[0].is_shown_by_trial);
  EXPECT_EQ(findings[0].experiments[0].command({"prog", "-t2"}), (std::vector<std::string>{"env", "prog", "-t1"}));
  curve.is_obeyed = false;
  EXPECT_TRUE(find_causes(evidence).empty());
}

TEST(Rules, TryFlagsWhereThereIsASourceTree) {
  Observation seen = busy();
  HotFunction function;
  function.function = "work";
  function.library = "/home/a/tree/prog";
  function.cpu_share = 0.9;
  function.float_share = 0.5;
  function.compiler = "GNU C17 12.2.0 -mtune=generic -march=x86-64 -O3";
  seen.functions = {function};
  Evidence evidence = evidence_of(seen);
  EXPECT_TRUE(find_causes(evidence).empty());
  evidence.can_rebuild = true;
  evidence.source_tree = "/home/a/tree";
  auto findings = find_causes(evidence);
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"compiler-flags"});
  std::vector<std::string> flags;
  for (const Experiment& experiment : findings[0].experiments) flags.push_back(experiment.flags);
  EXPECT_EQ(flags, (std::vector<std::string>{"-O3 -march=native", "-O3 -flto", "-O3 -march=native -ffast-math"}));
  EXPECT_TRUE(findings[0].experiments[2].changes_results);
  seen.functions[0].compiler = "GNU C17 12.2.0 -mtune=generic -march=x86-64";
  findings = find_causes(evidence);
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"unoptimised-code"});
  EXPECT_EQ(findings[0].experiments[0].flags, "-O2");
  // Code of others is not theirs to compile.
  seen.functions[0].compiler.clear();
  seen.functions[0].library = "/home/a/tree2/prog";
  EXPECT_TRUE(find_causes(evidence).empty());
  EXPECT_EQ(
      why_no_flags(evidence, {}),
      "0% of the CPU time is code that this line builds, and flags help no other; 20% is the least that is tried");
  EXPECT_EQ(why_no_flags(evidence, findings), "");  // one builds with -O2
  seen.samples_count = 12;
  EXPECT_EQ(why_no_flags(evidence, {}),
            "the run is too short to see what flags could help: 12 samples of it, and 50 are needed");
  evidence.can_rebuild = false;
  EXPECT_EQ(why_no_flags(evidence, {}), "");
}

TEST(Rules, KnowTheReferenceBlas) {
  Observation seen = busy();
  set_role(seen, CodeRole::kBlas, 0.9);
  HotFunction function;
  function.function = "dgemm_";
  function.library = "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0";
  function.role = CodeRole::kBlas;
  function.cpu_share = 0.9;
  seen.functions = {function};
  const auto findings = find_causes(evidence_of(seen));
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"blas-kernel"});
  EXPECT_NEAR(findings[0].gain_ratio, 0.45, 1e-9);
  EXPECT_FALSE(findings[0].is_shown_by_trial);
}

TEST(Rules, SuspectSharedCoresAndInterruptionsByTheirSigns) {
  Observation seen = busy();
  seen.run.threads = 2;
  seen.run.user_s = 1.9;
  HotFunction function;
  function.function = "work";
  function.cpu_share = 0.9;
  function.float_share = 0.6;
  seen.functions = {function};
  Evidence evidence = evidence_of(seen);
  evidence.has_shared_lines = true;
  evidence.shared_accesses_count = 1e6;
  evidence.costs.line_transfer_s = 50e-9;
  evidence.cpu_of_each_core = {0, 1};
  EXPECT_TRUE(find_causes(evidence).empty());
  evidence.cpu_of_each_core = {0};
  auto findings = find_causes(evidence);
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"shared-cores"});
  EXPECT_EQ(findings[0].experiments[0].prefix, (std::vector<std::string>{"taskset", "-c", "0"}));
  EXPECT_EQ(findings[0].experiments[0].environment.at("OMP_NUM_THREADS"), "1");
  evidence.cpu_of_each_core = {0, 1};
  seen.run.involuntary_switches = 4000;
  seen.ready_s = 0.4;
  findings = find_causes(evidence);
  ASSERT_EQ(causes_of(findings), std::vector<std::string>{"interruptions"});
  EXPECT_EQ(findings[0].experiments.size(), 1U);
  evidence.may_raise_priority = true;
  EXPECT_EQ(find_causes(evidence)[0].experiments.size(), 2U);
}

TEST(Experiments, ReadAsAShellWould) {
  const Experiment experiment{"one", {{"A", "1"}}, {"B"}, {"taskset", "-c", "0"}};
  EXPECT_EQ(experiment.command({"prog", "x"}),
            (std::vector<std::string>{"env", "-u", "B", "A=1", "taskset", "-c", "0", "prog", "x"}));
  EXPECT_EQ(Experiment().command({"prog"}), (std::vector<std::string>{"env", "prog"}));
}

}  // namespace
}  // namespace perfcast::measure
