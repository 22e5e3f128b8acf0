#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "measure/diagnose/observe/observation.h"

namespace perfcast::measure {
namespace {

std::string planted(const std::string& name) { return std::string(PERFCAST_PLANTED) + "/planted_" + name; }

const HotFunction* function_of(const Observation& seen, const std::string& beginning) {
  for (const HotFunction& function : seen.functions) {
    if (function.function.starts_with(beginning)) return &function;
  }
  return nullptr;
}

Result<Observation> observe_command(std::vector<std::string> command) {
  ObserveRequest request;
  request.command = std::move(command);
  return observe(request);
}

TEST(CodeRole, GoesByNamesAndLibraries) {
  const std::string libc = "/lib/x86_64-linux-gnu/libc.so.6";
  EXPECT_EQ(code_role_of("malloc", libc), CodeRole::kAllocation);
  EXPECT_EQ(code_role_of("operator new(unsigned long)", "/a/libstdc++.so.6"), CodeRole::kAllocation);
  EXPECT_EQ(code_role_of("__memmove_avx512_unaligned_erms", libc), CodeRole::kCopy);
  EXPECT_EQ(code_role_of("__strcmp_evex", libc), CodeRole::kCompare);
  EXPECT_EQ(code_role_of("", "/lib/libgcc_s.so.1"), CodeRole::kException);
  EXPECT_EQ(code_role_of("anything", "/usr/lib/libopenblas.so.0"), CodeRole::kBlas);
  EXPECT_EQ(code_role_of("sched_yield", libc), CodeRole::kYield);
  EXPECT_EQ(code_role_of("main", "/home/a/prog"), CodeRole::kOwn);
  EXPECT_EQ(code_role_of("mallocate", "/home/a/prog"), CodeRole::kOwn);
}

TEST(Observe, SeesWhereTheTimeGoes) {
  const auto seen = observe_command({planted("allocation_slow")});
  ASSERT_TRUE(seen) << to_text(seen.error());
  EXPECT_TRUE(seen->run.ok());
  if (!seen->no_samples.empty()) GTEST_SKIP() << seen->no_samples;
  EXPECT_GT(seen->samples_count, 100);
  EXPECT_GT(seen->share_of(CodeRole::kAllocation), 0.05);
  EXPECT_EQ(seen->programs_started_count, 1);
  EXPECT_EQ(seen->processes_started_count, 0);
  double sum = 0;
  for (const HotFunction& function : seen->functions) sum += function.cpu_share;
  EXPECT_LE(sum, 1 + 1e-9);
  EXPECT_GT(sum, 0.8);
}

TEST(Observe, NamesFunctionLineAndCompiler) {
  const auto seen = observe_command({planted("unoptimised_code_slow")});
  ASSERT_TRUE(seen) << to_text(seen.error());
  if (!seen->no_samples.empty()) GTEST_SKIP() << seen->no_samples;
  ASSERT_FALSE(seen->functions.empty());
  const HotFunction& first = seen->functions.front();
  EXPECT_TRUE(first.source.ends_with("unoptimised_code.cc")) << first.source;
  EXPECT_GT(first.line, 0);
  EXPECT_NE(first.compiler.find("GNU C++"), std::string::npos) << first.compiler;
  EXPECT_GT(first.stack_operand_share, 0.2);
}

// A loop over two arrays of 16 KiB: where it reads is told by the registers of samples, what the run was by its course.
TEST(Observe, KnowsTheCourseAndTheStreamsOfALoop) {
  const auto seen = observe_command({planted("narrow_vectors_slow")});
  ASSERT_TRUE(seen) << to_text(seen.error());
  if (!seen->no_samples.empty()) GTEST_SKIP() << seen->no_samples;
  ASSERT_FALSE(seen->functions.empty());
  const HotFunction& first = seen->functions.front();
  EXPECT_GT(first.address, 0U);
  EXPECT_GT(first.bytes, 0U);
#if defined(__x86_64__)
  ASSERT_TRUE(first.loop);
  ASSERT_GE(first.loop->streams.size(), 2U);
  for (const LoopStream& stream : first.loop->streams) {
    EXPECT_LE(stream.range_bytes(), 16384 + 4);  // a sample between the last step and the test sees one float more
    EXPECT_GT(stream.range_bytes(), 12000);
  }
#endif
  const RunTimeline& timeline = seen->timeline;
  ASSERT_GT(timeline.intervals_count(), 0U);
  double cpu_s = 0;
  for (const TimelineRow& row : timeline.cpu) {
    for (const double s : row.cpu_s) cpu_s += s;
  }
  EXPECT_NEAR(cpu_s, seen->run.cpu_s(), 0.01 * seen->run.cpu_s());
  EXPECT_NEAR(timeline.length_s, seen->run.wall_s, 1e-9);
  ASSERT_EQ(timeline.threads.size(), 1U);
  EXPECT_EQ(timeline.threads[0].process, timeline.threads[0].thread);
  double covered_s = 0;
  for (const ThreadSpan& span : timeline.threads[0].spans) covered_s += span.end_s - span.start_s;
  EXPECT_GT(covered_s, 0.7 * seen->run.wall_s);
  EXPECT_LE(covered_s, 1.001 * seen->run.wall_s);
}

TEST(Observe, SeesDivisions) {
  const auto seen = observe_command({planted("division_slow")});
  ASSERT_TRUE(seen) << to_text(seen.error());
  if (!seen->no_samples.empty()) GTEST_SKIP() << seen->no_samples;
  double divisions = 0;
  for (const HotFunction& function : seen->functions)
    divisions += function.cpu_share * (function.divide_share + function.float_divide_share);
  EXPECT_GT(divisions, 0.1);
}

// What the library does belongs to the line that calls it, through whatever the compiler put in between.
TEST(Observe, NamesTheUsersOwnLine) {
  const auto seen = observe_command({planted("file_opens_settings_slow")});
  ASSERT_TRUE(seen) << to_text(seen.error());
  if (!seen->no_samples.empty()) GTEST_SKIP() << seen->no_samples;
  const HotFunction* most = nullptr;
  for (const HotFunction& function : seen->functions) {
    if (function.role == CodeRole::kFileNames && (most == nullptr || function.cpu_share > most->cpu_share))
      most = &function;
  }
  ASSERT_NE(most, nullptr);
  EXPECT_TRUE(most->works_for_caller());
  EXPECT_TRUE(most->caller_place.starts_with("file_opens_settings.cc:")) << most->caller_place;
  EXPECT_GT(seen->share_of(CodeRole::kFileNames), 0.2);
}

TEST(Observe, SaysWhereThreadsWait) {
  const auto seen = observe_command({planted("hand_overs_pipe_slow")});
  ASSERT_TRUE(seen) << to_text(seen.error());
  if (!seen->no_system_calls.empty()) GTEST_SKIP() << seen->no_system_calls;
  const auto place = std::find_if(seen->waits.begin(), seen->waits.end(),
                                  [](const WaitPlace& of) { return of.state == ThreadState::kPipe; });
  ASSERT_NE(place, seen->waits.end());
  EXPECT_TRUE(place->source.starts_with("hand_overs_pipe.cc:")) << place->source;
  EXPECT_EQ(place->call, "read");
  EXPECT_GT(place->s, 0);
}

TEST(Observe, CountsWhatIsStarted) {
  const auto seen = observe_command({"sh", "-c", "for i in 1 2 3 4 5; do /bin/true; done"});
  ASSERT_TRUE(seen) << to_text(seen.error());
  if (!seen->has_starts) GTEST_SKIP() << seen->no_samples;
  EXPECT_EQ(seen->processes_started_count, 5);
  EXPECT_EQ(seen->programs_started_count, 6);
  EXPECT_EQ(function_of(*seen, "no such"), nullptr);
}

TEST(Observe, KnowsWhatAThreadWaitsFor) {
  const auto seen = observe_command({"sleep", "0.4"});
  ASSERT_TRUE(seen) << to_text(seen.error());
  if (!seen->no_system_calls.empty()) GTEST_SKIP() << seen->no_system_calls;
  EXPECT_GT(seen->first_thread.of(ThreadState::kSleep), 0.8 * seen->run.wall_s);
}

TEST(Observe, SaysWhatCanNotRun) {
  const auto seen = observe_command({"/no/such/program"});
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, "program-not-found");
}

}  // namespace
}  // namespace perfcast::measure
