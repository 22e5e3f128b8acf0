// Against QEMU itself; skipped where it is not installed.

#include "profile/collect/qemu/qemu_collector.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/process/program_inspector.h"
#include "profile/collect/collector.h"
#include "profile/collect/qemu/executed_code.h"
#include "profile/collect/qemu/phase_series.h"
#include "profile/collect/qemu/shared_lines.h"
#include "profile/trace/trace.h"

namespace perfcast {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

CollectRequest quietly(std::vector<std::string> command) {
  CollectRequest request;
  request.command = std::move(command);
  request.pass_output = false;
  request.limit_s = 60;
  request.input_descriptor = -1;
  return request;
}

double value(const Collection& found, const std::string& name) {
  const auto at = found.counters.find(name);
  return at == found.counters.end() ? std::nan("") : at->second;
}

class Qemu : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status status = collector_.available(); !status) GTEST_SKIP() << status.error().message;
  }
  Collection collect(std::vector<std::string> command, bool mix_only = false) {
    CollectRequest request = quietly(std::move(command));
    request.mix_only = mix_only;
    auto found = collector_.collect(request);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : Collection{};
  }
  std::string failure(std::vector<std::string> command) {
    const auto found = collector_.collect(quietly(std::move(command)));
    return found ? "" : found.error().code;
  }
  QemuCollector collector_;
};

TEST_F(Qemu, CountsGrowWithTheWork) {
  const Collection none = collect({PERFCAST_GUINEA, "work", "0"});
  const Collection some = collect({PERFCAST_GUINEA, "work", "100000"});
  const Collection more = collect({PERFCAST_GUINEA, "work", "200000"});
  const double step = value(some, "instructions_count") - value(none, "instructions_count");
  EXPECT_GT(step, 100000 * 6);
  EXPECT_NEAR((value(more, "instructions_count") - value(some, "instructions_count")) / step, 1, 0.01);
  // Three shifts per round, one conditional branch of even odds.
  EXPECT_NEAR(value(more, "op_shift_count") - value(some, "op_shift_count"), 300000, 3000);
  EXPECT_NEAR(value(more, "gshare_misses_count") - value(some, "gshare_misses_count"), 50000, 10000);
  EXPECT_EQ(some.instruction_set, host_instruction_set());
  EXPECT_EQ(some.exit_code, 0);
  EXPECT_EQ(some.record.status, "ok");
  EXPECT_FALSE(some.record.version.empty());
  EXPECT_GT(*some.run_wall_s, 0);
}

TEST_F(Qemu, SeesLinesThatSeveralThreadsWrite) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one CPU: threads don't meet";
  CollectRequest request = quietly({PERFCAST_GUINEA, "threads", "2", "400000"});
  request.shared_lines = std::make_shared<SharedLines>();
  const auto found = collector_.collect(request);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_GT(request.shared_lines->accesses_count, 400000);
  // Both add to one number.
  ASSERT_FALSE(request.shared_lines->lines.empty());
  const SharedCacheLine& line = request.shared_lines->lines[0];
  EXPECT_FALSE(line.is_false_sharing());
  EXPECT_GT(line.writes_count(), 300000);
  ASSERT_GE(line.users.size(), 2U);
  EXPECT_TRUE(line.users[0].file.ends_with("perfcast_guinea")) << line.users[0].file;
  EXPECT_GT(line.users[0].file_offset_bytes, 0U);
}

TEST_F(Qemu, HasTheSeriesOfTheLargestProcess) {
  CollectRequest request = quietly({PERFCAST_GUINEA, "forks", "2", "1000000"});
  request.phase_series = std::make_shared<PhaseSeries>();
  const auto found = collector_.collect(request);
  ASSERT_TRUE(found) << found.error().message;
  const PhaseSeries& series = *request.phase_series;
  EXPECT_EQ(series.processes, 3U);
  EXPECT_NEAR(series.instructions_ratio, 0.5, 0.05);
  ASSERT_GT(series.intervals.size(), 2U);
  std::vector<size_t> all;
  for (size_t i = 0; i < series.intervals.size(); ++i) all.push_back(i);
  const MetricValues metrics = interval_metrics(series, all);
  EXPECT_NEAR(metrics.at("op_shift_count"), 3e6, 1e5);
  EXPECT_GT(metrics.at("gshare_misses_count"), 4e5);
  EXPECT_TRUE(series.program.ends_with("perfcast_guinea")) << series.program;
}

TEST_F(Qemu, CountsRepeatExactly) {
  const Collection first = collect({PERFCAST_GUINEA, "work", "50000"});
  const Collection second = collect({PERFCAST_GUINEA, "work", "50000"});
  EXPECT_EQ(value(first, "instructions_count"), value(second, "instructions_count"));
  EXPECT_EQ(value(first, "loads_count"), value(second, "loads_count"));
}

TEST_F(Qemu, MixAloneLeavesTheRestOut) {
  const Collection found = collect({PERFCAST_GUINEA, "work", "100000"}, true);
  EXPECT_GT(value(found, "op_shift_count"), 300000);
  EXPECT_FALSE(found.counters.contains("miss_32k_random_count"));
}

TEST_F(Qemu, AddsUpThreadsAndForkedChildren) {
  const Collection threads = collect({PERFCAST_GUINEA, "threads", "3", "100000"});
  EXPECT_NEAR(value(threads, "op_shift_count"), 900000, 20000);
  EXPECT_EQ(value(threads, "threads_count"), 4);
  const Collection forks = collect({PERFCAST_GUINEA, "forks", "3", "100000"});
  EXPECT_NEAR(value(forks, "op_shift_count"), 900000, 20000);
  EXPECT_THAT(forks.record.note, HasSubstr("4 processes"));
}

TEST_F(Qemu, PassesExitCodesAndFollowsScripts) {
  EXPECT_EQ(collect({PERFCAST_GUINEA, "exit", "7"}).exit_code, 7);
  const std::string script = testing::TempDir() + "perfcast-script";
  ASSERT_TRUE(write_file_atomically(script, "#!/bin/sh\nexit 9\n"));
  chmod(script.c_str(), 0755);
  EXPECT_EQ(collect({script}).exit_code, 9);
  unlink(script.c_str());
}

// The shifts of the guinea's work, by program.
double shifts_of(const Collection& found, const std::string& program) {
  for (const CollectedPart& part : found.parts) {
    if (part.program != program) continue;
    const auto at = part.counters.find("op_shift_count");
    return at == part.counters.end() ? std::nan("") : at->second;
  }
  return std::nan("");
}

class Follows : public Qemu, public testing::WithParamInterface<std::pair<std::string, int>> {};

// Whoever starts the guinea, its 100,000 rounds of three shifts are counted, as often as it is started.
TEST_P(Follows, WhatACommandStarts) {
  const std::string guinea = PERFCAST_GUINEA, name = guinea.substr(guinea.rfind('/') + 1);
  std::string command = GetParam().first;
  for (size_t at = command.find("GUINEA"); at != std::string::npos; at = command.find("GUINEA", at + guinea.size())) {
    command.replace(at, 6, guinea);
  }
  const std::string first = command.substr(0, command.find(' '));
  const bool is_tool =
      first == "python3" || first == "nice" || first == "timeout" || first == "find" || first == "mpirun";
  if (is_tool && find_in_path(first).empty()) GTEST_SKIP() << first << " is not installed";
  const Collection found = collect({"sh", "-c", command});
  EXPECT_EQ(found.exit_code, 0);
  EXPECT_NEAR(shifts_of(found, name), 300000.0 * GetParam().second, 10000.0 * GetParam().second);
  EXPECT_THAT(found.unseen, testing::IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(
    Qemu, Follows,
    testing::Values(std::pair("GUINEA work 100000; true", 1), std::pair("exec GUINEA work 100000", 1),
                    std::pair("env -i GUINEA work 100000", 1), std::pair("nice GUINEA work 100000", 1),
                    std::pair("timeout 60 GUINEA work 100000", 1), std::pair("GUINEA work 100000 | cat", 1),
                    std::pair("find /dev/null | xargs -I{} GUINEA work 100000", 1),
                    std::pair("seq 100000 100002 | xargs -P2 -n1 GUINEA work", 3),
                    std::pair("cd / && GUINEA work 100000 & wait", 1),
                    std::pair("mpirun --allow-run-as-root --oversubscribe -n 2 GUINEA work 100000", 2),
                    std::pair("python3 -c 'import subprocess as s; s.run([\"GUINEA\", \"work\", \"100000\"])'", 1),
                    std::pair("GUINEA work 100000 & GUINEA work 100000 & wait", 2)));

TEST_F(Qemu, FollowsWhateverKillsAProcess) {
  // yes is killed by SIGPIPE, sleep by timeout's SIGTERM: what they did until then counts.
  const Collection found = collect({"sh", "-c", "yes | head -n 20000 >/dev/null; timeout 0.3 sleep 60; true"});
  std::vector<std::string> names;
  for (const CollectedPart& part : found.parts) names.push_back(part.program);
  EXPECT_THAT(names, testing::IsSupersetOf({"yes", "head", "timeout", "sleep"}));
}

TEST_F(Qemu, NamesWhatItDoesNotFollow) {
  const std::string folder = testing::TempDir(), copy = folder + "perfcast-setuid";
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to make a program of another identity";
  ASSERT_EQ(std::system(("cp /bin/true " + copy + " && chown 1234 " + copy + " && chmod 4755 " + copy).c_str()), 0);
  const Collection found = collect({"sh", "-c", copy + "; " + copy + "; true"});
  CollectRequest alone = quietly({copy});
  alone.needs_counts = true;
  const auto refused = profile_command(alone, [](const std::string& text) { ADD_FAILURE() << text; });
  EXPECT_EQ(refused ? "" : refused.error().code, "setuid-program");
  unlink(copy.c_str());
  ASSERT_EQ(found.unseen.size(), 1u);
  EXPECT_EQ(found.unseen[0].path, copy);
  EXPECT_EQ(found.unseen[0].why, "setuid");
  EXPECT_EQ(found.unseen[0].times, 2u);
}

TEST_F(Qemu, InstrumentsASubsetOfWhatIsAlike) {
  // Natively 40 processes of half a second each, as a census would tell.
  CollectRequest request = quietly({"sh", "-c", "for i in $(seq 101 140); do " PERFCAST_GUINEA " work ${i}00; done"});
  CensusEntry shell;
  shell.program = "/usr/bin/sh";
  shell.arguments = request.command;
  shell.cpu_s = 0.01;
  request.census.push_back(shell);
  for (int i = 101; i <= 140; ++i) {
    CensusEntry entry = shell;
    entry.started_by = 0;
    entry.forked = true;
    request.census.push_back(entry);
    entry.started_by = static_cast<int>(request.census.size()) - 1;
    entry.forked = false;
    entry.program = PERFCAST_GUINEA;
    entry.arguments = {PERFCAST_GUINEA, "work", std::to_string(i) + "00"};
    entry.cpu_s = 0.005 * i;
    request.census.push_back(entry);
  }
  const auto found = collector_.collect(request);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->record.note, HasSubstr("of 40 "));
  const std::string guinea = PERFCAST_GUINEA, name = guinea.substr(guinea.rfind('/') + 1);
  for (const CollectedPart& part : found->parts) {
    if (part.program != name) continue;
    EXPECT_LT(part.processes, 30u);
    EXPECT_NEAR(part.represented, 40, 2);
  }
  // Of all 40: three shifts a round, 40 times 12,050 rounds, and the start.
  const double start = value(collect({PERFCAST_GUINEA, "work", "0"}), "op_shift_count");
  EXPECT_NEAR(shifts_of(*found, name), 40 * (start + 3 * 12050.0), 0.03 * 3 * 40 * 12050.0);
  EXPECT_THAT(found->unseen, testing::IsEmpty());
}

// What the pieces of a trace say of the guinea's work is what the counters say of all of it.
void expect_trace_of_work(QemuCollector& collector, const std::string& guinea, bool exact) {
  CollectRequest request = quietly({guinea, "work", "3000000"});
  request.exact = exact;
  request.trace_path = testing::TempDir() + "perfcast-work.trace";
  const auto found = collector.collect(request);
  ASSERT_TRUE(found) << found.error().message;
  const auto trace = read_trace(request.trace_path);
  unlink(request.trace_path.c_str());
  ASSERT_TRUE(trace.ok()) << to_text(trace.error());
  EXPECT_EQ(trace->command, request.command);
  ASSERT_EQ(trace->processes.size(), 1u);
  const ProcessTrace& process = trace->processes[0];
  EXPECT_EQ(process.instruction_set, found->instruction_set);
  EXPECT_THAT(guinea, testing::EndsWith(process.program));
  ASSERT_GE(process.pieces.size(), 5u);
  double instructions = 0, stands_for = 0, loads = 0, shifts = 0, mispredicted = 0, conditional = 0;
  for (const TracePiece& piece : process.pieces) {
    EXPECT_LE(piece.instructions_count, 101000u);
    stands_for += static_cast<double>(piece.stands_for_count);
    // Later pieces: the start is another program.
    if (piece.position_count < 1000000) continue;
    instructions += static_cast<double>(piece.instructions_count);
    TraceReader reader(process, piece);
    TraceStep step;
    while (reader.next(step)) {
      const TraceBlock& block = process.blocks[step.block];
      for (const TraceInstruction& one : block.instructions) {
        loads += one.loads;
        shifts += process.classes[one.op] == "shift" ? 1 : 0;
      }
      conditional += block.branch == TraceBranch::kConditional ? 1 : 0;
      mispredicted += step.mispredicted ? 1 : 0;
    }
    EXPECT_TRUE(reader.ok());
  }
  const double all = value(*found, "instructions_count");
  EXPECT_NEAR(stands_for / all, 1, 1e-3);
  EXPECT_NEAR(shifts / instructions, value(*found, "op_shift_count") / all, 0.01);
  EXPECT_NEAR(loads / instructions, value(*found, "loads_count") / all, 0.01);
  EXPECT_NEAR(mispredicted / conditional, value(*found, "tage_misses_count") / value(*found, "op_cond_branch_count"),
              0.02);
}

TEST_F(Qemu, TracesPiecesOfTheFirstPhaseAndOfWindows) { expect_trace_of_work(collector_, PERFCAST_GUINEA, false); }
TEST_F(Qemu, TracesPiecesOfAnExactRun) { expect_trace_of_work(collector_, PERFCAST_GUINEA, true); }
TEST_F(Qemu, TracesProgramsOfTheOtherInstructionSet) {
#ifdef PERFCAST_GUINEA_AARCH64
  if (find_in_path("qemu-aarch64").empty()) GTEST_SKIP() << "qemu-aarch64 is not installed";
  expect_trace_of_work(collector_, PERFCAST_GUINEA_AARCH64, false);
#else
  GTEST_SKIP() << "no aarch64 cross compiler";
#endif
}

TEST_F(Qemu, TracesEveryProcessAndOneThreadAtATime) {
  CollectRequest request =
      quietly({"sh", "-c", PERFCAST_GUINEA " threads 3 300000; " PERFCAST_GUINEA " forks 2 300000"});
  request.trace_path = testing::TempDir() + "perfcast-threads.trace";
  const auto found = collector_.collect(request);
  ASSERT_TRUE(found) << found.error().message;
  const auto trace = read_trace(request.trace_path);
  unlink(request.trace_path.c_str());
  ASSERT_TRUE(trace.ok()) << to_text(trace.error());
  EXPECT_GE(trace->processes.size(), 5u);  // the shell, the threads, the forking one and what it forked
}

// Executions of the block of the guinea that ran most often.
uint64_t most_executions(const ExecutedCode& code, const std::string& path) {
  uint64_t most = 0;
  for (const ExecutedBlock& block : code.blocks) {
    const ExecutedMapping* const mapping = mapping_of(code.mappings, block.address);
    if (mapping != nullptr && mapping->path == path) most = std::max(most, block.executions_count);
  }
  return most;
}

TEST_F(Qemu, SaysWhichCodeRan) {
  CollectRequest request = quietly({PERFCAST_GUINEA, "forks", "2", "30000"});
  request.executed_code = std::make_shared<std::vector<ExecutedCode>>();
  const auto found = collector_.collect(request);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_THAT(found->warnings, testing::IsEmpty());
  ASSERT_EQ(request.executed_code->size(), 3U);
  int children = 0;
  for (const ExecutedCode& code : *request.executed_code) {
    EXPECT_EQ(code.program, PERFCAST_GUINEA);
    EXPECT_EQ(code.weight, 1);
    EXPECT_TRUE(code.has_start);
    EXPECT_GT(code.process, 0);
    // The first round of the loop may be in the block before it.
    const uint64_t rounds = most_executions(code, PERFCAST_GUINEA);
    children += rounds == 30000 || rounds == 29999 ? 1 : 0;
  }
  EXPECT_EQ(children, 2);
}

TEST_F(Qemu, SaysWhichCodeRanUntilTheLimit) {
  CollectRequest request = quietly({PERFCAST_GUINEA, "sleep", "10000"});
  request.limit_s = 1;
  request.executed_code = std::make_shared<std::vector<ExecutedCode>>();
  EXPECT_EQ(collector_.collect(request).error().code, "limit-reached");
  ASSERT_EQ(request.executed_code->size(), 1U);
  EXPECT_GT(request.executed_code->front().blocks.size(), 100U);
}

TEST_F(Qemu, RunsStaticPrograms) {
#ifdef PERFCAST_GUINEA_STATIC
  EXPECT_GT(value(collect({PERFCAST_GUINEA_STATIC, "work", "100000"}), "op_shift_count"), 300000);
#else
  GTEST_SKIP() << "no static C library to link a test program with";
#endif
}

TEST_F(Qemu, RunsProgramsOfTheOtherInstructionSet) {
#ifdef PERFCAST_GUINEA_AARCH64
  if (find_in_path("qemu-aarch64").empty()) GTEST_SKIP() << "qemu-aarch64 is not installed";
  const Collection found = collect({PERFCAST_GUINEA_AARCH64, "work", "100000"});
  EXPECT_EQ(found.instruction_set, "aarch64");
  EXPECT_GT(value(found, "instructions_count"), 400000);
  EXPECT_GT(value(found, "op_cond_branch_count"), 100000);
  const auto whole = profile_command(quietly({PERFCAST_GUINEA_AARCH64, "exit", "3"}), [](const std::string&) {});
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->exit_code, 3);
  EXPECT_THAT(whole->missing.at("wall_s"), HasSubstr("built for aarch64"));
#else
  GTEST_SKIP() << "no aarch64 cross compiler";
#endif
}

TEST_F(Qemu, NamesWhatItCannotDo) {
  EXPECT_EQ(failure({PERFCAST_GUINEA, "kill", "9"}), "instrumenter-failed");
#ifdef PERFCAST_AVX512
  EXPECT_EQ(failure({PERFCAST_AVX512}), "unsupported-instructions");
#endif
  CollectRequest request = quietly({PERFCAST_GUINEA, "sleep", "10000"});
  request.limit_s = 0.3;
  EXPECT_EQ(collector_.collect(request).error().code, "limit-reached");
  QemuCollector without("/nonexistent/plugin.so");
  EXPECT_EQ(without.collect(quietly({PERFCAST_GUINEA, "exit", "0"})).error().code, "instrumenter-failed");
}

#ifdef PERFCAST_TWO_VARIANTS
TEST_F(Qemu, SeesCodeForWiderVectorsBesideWhatRan) {
  const Collection found = collect({PERFCAST_TWO_VARIANTS});
  const double all = value(found, "instructions_count"), wider = value(found, "wider_code_instructions_count");
  EXPECT_GT(wider, 0.5 * all);
  EXPECT_LE(wider, all);
  EXPECT_EQ(value(found, "vector_block_instructions_count"), wider);
  EXPECT_EQ(value(found, "wider_code_amx_instructions_count"), 0);
  EXPECT_EQ(value(found, "made_code_vector_instructions_count"), 0);
  EXPECT_THAT(found.warnings, Contains(Field(&ProfileWarning::code, "wider-vectors")));
  const Collection without = collect({PERFCAST_GUINEA, "work", "100000"});
  EXPECT_EQ(value(without, "wider_code_instructions_count"), 0);
  EXPECT_THAT(without.warnings, Not(Contains(Field(&ProfileWarning::code, "wider-vectors"))));
}
#endif

TEST_F(Qemu, TellsClocksFromWork) {
  const auto until = profile_command(quietly({PERFCAST_GUINEA, "until", "300"}), [](const std::string&) {});
  ASSERT_TRUE(until) << until.error().message;
  EXPECT_THAT(until->warnings, Contains(Field(&ProfileWarning::code, "clock-bound")));
  const auto work = profile_command(quietly({PERFCAST_GUINEA, "work", "20000000"}), [](const std::string&) {});
  ASSERT_TRUE(work) << work.error().message;
  EXPECT_THAT(work->warnings, Not(Contains(Field(&ProfileWarning::code, "clock-bound"))));
  EXPECT_GT(work->metrics.at("instructions_per_s"), 1e7);
}

}  // namespace
}  // namespace perfcast
