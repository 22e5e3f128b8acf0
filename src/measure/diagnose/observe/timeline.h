#pragma once
// The course of a run: what its CPU time went to and what its threads waited for, interval by interval, and what each
// thread did when. Bounded, however long the run was and whatever it started.

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "measure/diagnose/observe/thread_states.h"

namespace perfcast {
struct CpuSamples;
}  // namespace perfcast

namespace perfcast::measure {

// What a thread did for a while.
struct ThreadSpan {
  enum class Doing : uint8_t { kUserCode, kKernel, kReady, kWaiting };
  double start_s = 0, end_s = 0;
  Doing doing = Doing::kUserCode;
  int32_t function = -1;                    // kUserCode, kKernel: of Observation::functions; -1: one that isn't listed
  ThreadState state = ThreadState::kOther;  // kWaiting
  std::string_view call;                    // kWaiting: the system call; empty: not known
};

struct ThreadTrack {
  pid_t process = 0, thread = 0;
  std::string program;  // as the kernel names it; empty: not known
  double cpu_s = 0;
  std::vector<ThreadSpan> spans;  // in the order of time; they don't overlap
};

// CPU time of one function, or of all that has none of its own, in each interval.
struct TimelineRow {
  static constexpr int32_t kOtherCode = -1, kKernelCode = -2;
  int32_t function = kOtherCode;  // of Observation::functions
  std::vector<double> cpu_s;
};

// A stretch in which mostly one thing was done.
struct RunPhase {
  double start_s = 0, end_s = 0;
  std::string name;  // of a function, or "the kernel", "waiting: ..."
};

struct RunTimeline {
  double length_s = 0, interval_s = 0;                     // 0: there is none
  std::vector<TimelineRow> cpu;                            // largest first; then other user code, then the kernel
  std::array<std::vector<double>, kThreadStates> state_s;  // threads' seconds in each interval, by state
  std::vector<double> threads_count;                       // alive, on average over an interval
  std::vector<ThreadTrack> threads;                        // by their start; those with most time
  size_t threads_left_out_count = 0;
  std::vector<RunPhase> phases;

  size_t intervals_count() const { return threads_count.size(); }
  static constexpr size_t kMostIntervals = 400, kMostThreads = 200, kMostSpans = 60'000, kMostRows = 8;
};

struct TimelineInputs {
  const CpuSamples& samples;
  const std::vector<int32_t>& function_of_sample;
  std::vector<std::string> function_names;  // of Observation::functions
  const std::vector<ThreadStateSpan>& states;
  double wall_s = 0;
  double sample_s = 0;    // CPU time that a sample stands for
  uint64_t start_ns = 0;  // of the run, by the samples' clock
};

RunTimeline make_timeline(const TimelineInputs& inputs);

}  // namespace perfcast::measure
