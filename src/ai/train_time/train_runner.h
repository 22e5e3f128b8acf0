#pragma once
// Trainings, run: each system with each seed, in turns, its metric lines stamped as they arrive.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ai/train_time/metric_lines.h"
#include "ai/train_time/train_curve.h"
#include "base/result.h"
#include "machine/meter/meter.h"

namespace perfcast::ai {

struct TrainSystem {
  std::string name;
  std::vector<std::string> command;  // argv; "{seed}" in any word stands for the seed
  bool takes_seed() const;
};

struct TrainRunRequest {
  std::vector<TrainSystem> systems;
  std::vector<int64_t> seeds;
  double limit_s = 0;         // of one training; 0: none
  std::string start_pattern;  // a regular expression: the clock starts at the first line with it; empty: at the start
  bool show_output = false;   // on stderr
  std::vector<std::pair<std::string, int64_t>> done;  // system and seed that have been run already
  const MetricReader* reader = nullptr;
  MeterSet* meters = nullptr;  // null: none are read
  // Each line of the record (train_log.h) as it happens; from another thread. A failure ends the run at hand, and all.
  std::function<Status(const std::string&)> record;
  std::function<void(const std::string&)> progress;
};

// Whether the systems' programs are there: errors of inspect_program().
Status check_programs(const std::vector<TrainSystem>& systems);

// Every seed of every system, the systems of a seed after each other, so that what the machine does meanwhile falls on
// all of them. What the command prints on both streams is looked at; its input is empty. PERFCAST_SEED and
// PYTHONUNBUFFERED are set in its environment. A training that fails or runs into its limit is a curve with that state.
// Where a system's first training ends well without a value of the metric, the others would, too: "no-metric" names
// what it printed values of. Errors beside: "interrupted", "program-not-found", "not-executable", "exec-failed", those
// of `record`, "bad-usage" for a pattern.
Result<std::vector<TrainCurve>> run_trainings(const TrainRunRequest& request);

}  // namespace perfcast::ai
