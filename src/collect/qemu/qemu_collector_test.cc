// Against QEMU itself; skipped where it is not installed.

#include "collect/qemu/qemu_collector.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/file.h"
#include "collect/collector.h"
#include "collect/process/program_inspector.h"

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
  EXPECT_EQ(failure({"sh", "-c", PERFCAST_GUINEA " exit 0; true"}), "exec-not-followed");
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
