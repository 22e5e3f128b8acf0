#pragma once
// Seconds of each operator of a transformer's steps. Off, it costs a comparison.

#include <time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "ai/llm/operator.h"

namespace perfcast::ai {

// kThread: time that the calling thread ran on a CPU, so that what else runs on a busy machine doesn't count; of a
// transformer with one thread alone. Reading it takes a microsecond on some systems.
enum class StepClock : uint8_t { kWall, kThread };

inline double seconds_now(StepClock clock) {
  timespec now = {};
  clock_gettime(clock == StepClock::kWall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// What reading the clock takes, the least of some.
inline double clock_cost_s(StepClock clock) {
  double least = 1;
  for (int i = 0; i < 20; ++i) {
    const double before = seconds_now(clock);
    least = std::min(least, seconds_now(clock) - before);
  }
  return least;
}

// By the operators' names of `llm analyze`, sums over layers and steps. Scores, softmax and values are one loop here
// and stand under kScores.
struct OperatorSeconds {
  std::array<double, static_cast<size_t>(OperatorName::kOptimizer) + 1> seconds = {};
  std::array<int64_t, static_cast<size_t>(OperatorName::kOptimizer) + 1> marks = {};  // times that each ran
  int64_t steps = 0;

  double& operator[](OperatorName name) { return seconds[static_cast<size_t>(name)]; }
  double operator[](OperatorName name) const { return seconds[static_cast<size_t>(name)]; }
};

class OperatorClock {
 public:
  // What reading it takes is measured then, and taken off every operator.
  void turn_on(StepClock clock = StepClock::kWall) {
    on_ = true;
    clock_ = clock;
    cost_s_ = clock_cost_s(clock);
  }
  void turn_off() { on_ = false; }
  void begin() {
    if (!on_) return;
    last_s_ = seconds_now(clock_);
    ++sums_.steps;
  }
  // What was done since the last call belongs to `name`.
  void mark(OperatorName name) {
    if (!on_) return;
    const double now_s = seconds_now(clock_);
    sums_[name] += std::max(0.0, now_s - last_s_ - cost_s_);
    ++sums_.marks[static_cast<size_t>(name)];
    last_s_ = now_s;
  }
  const OperatorSeconds& sums() const { return sums_; }
  void clear() { sums_ = {}; }

 private:
  bool on_ = false;
  StepClock clock_ = StepClock::kWall;
  double last_s_ = 0, cost_s_ = 0;
  OperatorSeconds sums_;
};

}  // namespace perfcast::ai
