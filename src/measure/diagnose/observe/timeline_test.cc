#include "measure/diagnose/observe/timeline.h"

#include <gtest/gtest.h>

#include "profile/collect/native/cpu_sampler.h"

namespace perfcast::measure {
namespace {

constexpr double kPeriod_s = 0.001;

// A thread that runs function 0 for a second, then waits for a second, then runs the kernel for a second.
struct SmallRun {
  CpuSamples samples;
  std::vector<int32_t> function_of_sample;
  std::vector<ThreadStateSpan> states;

  void run(pid_t thread, double from_s, double until_s, int32_t function, bool in_kernel = false) {
    for (int i = 0; from_s + kPeriod_s * i < until_s; ++i) {
      CpuSample sample;
      sample.process = 7;
      sample.thread = thread;
      sample.time_ns = 1'000'000'000 + static_cast<uint64_t>(1e9 * (from_s + kPeriod_s * (i + 0.5)));
      sample.in_kernel = in_kernel;
      samples.samples.push_back(sample);
      function_of_sample.push_back(function);
    }
  }
  RunTimeline timeline(double wall_s) {
    samples.period_s = kPeriod_s;
    samples.programs[7] = "prog";
    return make_timeline({samples, function_of_sample, {"work"}, states, wall_s, kPeriod_s, 1'000'000'000});
  }
};

SmallRun small_run() {
  SmallRun run;
  run.run(7, 0, 1, 0);
  run.run(7, 2, 3, -1, true);
  run.states = {{7, 7, 0, 1, ThreadState::kRunning, ""},
                {7, 7, 1, 2, ThreadState::kSleep, "nanosleep"},
                {7, 7, 2, 3, ThreadState::kRunning, ""}};
  return run;
}

double sum(const std::vector<double>& values) {
  double all = 0;
  for (const double value : values) all += value;
  return all;
}

TEST(Timeline, AddsUpToTheRun) {
  const RunTimeline timeline = small_run().timeline(3);
  ASSERT_EQ(timeline.intervals_count(), 150U);  // of 20 samples each
  EXPECT_DOUBLE_EQ(timeline.interval_s, 0.02);
  ASSERT_EQ(timeline.cpu.size(), 3U);
  EXPECT_EQ(timeline.cpu[0].function, 0);
  EXPECT_EQ(timeline.cpu[1].function, TimelineRow::kOtherCode);
  EXPECT_EQ(timeline.cpu[2].function, TimelineRow::kKernelCode);
  EXPECT_NEAR(sum(timeline.cpu[0].cpu_s), 1, 1e-9);
  EXPECT_EQ(sum(timeline.cpu[1].cpu_s), 0);
  EXPECT_NEAR(sum(timeline.cpu[2].cpu_s), 1, 1e-9);
  EXPECT_NEAR(sum(timeline.state_s[static_cast<size_t>(ThreadState::kSleep)]), 1, 1e-9);
  EXPECT_NEAR(sum(timeline.state_s[static_cast<size_t>(ThreadState::kRunning)]), 2, 1e-9);
  for (const double threads : timeline.threads_count) EXPECT_NEAR(threads, 1, 1e-9);
}

TEST(Timeline, SaysWhatAThreadDidWhen) {
  const RunTimeline timeline = small_run().timeline(3);
  ASSERT_EQ(timeline.threads.size(), 1U);
  const ThreadTrack& track = timeline.threads[0];
  EXPECT_EQ(track.program, "prog");
  EXPECT_NEAR(track.cpu_s, 2, 1e-9);
  ASSERT_EQ(track.spans.size(), 3U);
  EXPECT_EQ(track.spans[0].doing, ThreadSpan::Doing::kUserCode);
  EXPECT_EQ(track.spans[0].function, 0);
  EXPECT_EQ(track.spans[1].doing, ThreadSpan::Doing::kWaiting);
  EXPECT_EQ(track.spans[1].state, ThreadState::kSleep);
  EXPECT_EQ(track.spans[1].call, "nanosleep");
  EXPECT_NEAR(track.spans[1].start_s, 1, 0.004);
  EXPECT_NEAR(track.spans[1].end_s, 2, 0.004);
  EXPECT_EQ(track.spans[2].doing, ThreadSpan::Doing::kKernel);
  EXPECT_LE(track.spans[2].end_s, 3);
}

TEST(Timeline, NamesPhases) {
  const RunTimeline timeline = small_run().timeline(3);
  ASSERT_EQ(timeline.phases.size(), 3U);
  EXPECT_EQ(timeline.phases[0].name, "work");
  EXPECT_EQ(timeline.phases[1].name, "waiting: a time to pass");
  EXPECT_EQ(timeline.phases[2].name, "the kernel");
  EXPECT_NEAR(timeline.phases[1].start_s, 1, 0.021);
  EXPECT_NEAR(timeline.phases[2].end_s, 3, 1e-9);
}

TEST(Timeline, IsBoundedWhateverWasStarted) {
  SmallRun run;
  for (pid_t thread = 1; thread <= 1000; ++thread)
    run.states.push_back({7, thread, 0.001 * thread, 0.001 * thread + 1, ThreadState::kLock, "futex"});
  const RunTimeline timeline = run.timeline(200);
  EXPECT_EQ(timeline.intervals_count(), RunTimeline::kMostIntervals);
  EXPECT_EQ(timeline.threads.size(), RunTimeline::kMostThreads);
  EXPECT_EQ(timeline.threads_left_out_count, 800U);
  EXPECT_NEAR(sum(timeline.state_s[static_cast<size_t>(ThreadState::kLock)]), 1000, 1e-6);
  size_t spans = 0;
  for (const ThreadTrack& track : timeline.threads) spans += track.spans.size();
  EXPECT_LE(spans, RunTimeline::kMostSpans);
}

TEST(Timeline, OfNothingIsNone) {
  EXPECT_EQ(SmallRun().timeline(1).intervals_count(), 0U);
  EXPECT_EQ(small_run().timeline(0).intervals_count(), 0U);
}

}  // namespace
}  // namespace perfcast::measure
