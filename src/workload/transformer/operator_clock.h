#pragma once
// Seconds of each operator of a transformer's steps. Off, it costs a comparison.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "workload/llm/operator.h"

namespace perfcast {

// By the operators' names of `llm analyze`, sums over layers and steps. Scores, softmax and values are one loop here
// and stand under kScores.
struct OperatorSeconds {
  std::array<double, static_cast<size_t>(OperatorName::kOptimizer) + 1> seconds = {};
  int64_t steps = 0;

  double& operator[](OperatorName name) { return seconds[static_cast<size_t>(name)]; }
  double operator[](OperatorName name) const { return seconds[static_cast<size_t>(name)]; }
};

class OperatorClock {
 public:
  void turn(bool on) { on_ = on; }
  bool is_on() const { return on_; }
  void begin() {
    if (!on_) return;
    last_ = Clock::now();
    ++sums_.steps;
  }
  // What was done since the last call belongs to `name`.
  void mark(OperatorName name) {
    if (!on_) return;
    const Clock::time_point now = Clock::now();
    sums_[name] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  const OperatorSeconds& sums() const { return sums_; }
  void clear() { sums_ = {}; }

 private:
  using Clock = std::chrono::steady_clock;
  bool on_ = false;
  Clock::time_point last_;
  OperatorSeconds sums_;
};

}  // namespace perfcast
