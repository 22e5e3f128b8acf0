#pragma once
// A training as its metric over time.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace perfcast::ai {

struct MetricReading {
  double time_s = 0;  // since the clock started
  double value = 0;   // not finite: the training said so ("nan")
};

struct RunMeter {
  std::string name, covers;
  std::optional<double> energy_joules, uncertainty_joules;  // of the whole run, idle power in it
  std::string why_missing;                                  // where there are no joules
};

// kCutOff: a record that ends within the run; kImported: a log that somebody else wrote.
enum class TrainRunState { kDone, kFailed, kLimit, kInterrupted, kCutOff, kImported };
std::string name_of(TrainRunState state);  // "done", "failed", "limit", "interrupted", "cut-off", "imported"
std::optional<TrainRunState> parse_train_run_state(const std::string& name);

struct TrainCurve {
  std::string system;
  int64_t seed = 1;
  std::vector<MetricReading> readings;  // in the order of their times
  TrainRunState state = TrainRunState::kDone;
  std::string why;               // failed: how
  std::optional<double> wall_s;  // of the whole run
  std::vector<RunMeter> meters;  // empty: no meter, or a record without any
};

// All readings lie within the last 2% of a run of a second or more, and are three or more: the command keeps its
// output back until it ends.
bool seems_buffered(const TrainCurve& curve);

}  // namespace perfcast::ai
