#pragma once
// Published results side by side: for each model and scenario the accelerators, per accelerator and per watt.

#include <string>
#include <vector>

#include "ai/results/accelerator_names.h"
#include "ai/results/published_result.h"

namespace perfcast::ai {

// One accelerator on one model in one scenario.
struct TaskEntry {
  std::string accelerator;
  size_t results = 0, systems = 0;                                            // systems: submitters' platforms
  double best_per_accelerator = kUnknown, median_per_accelerator = kUnknown;  // samples per second
  double best_latency_s = kUnknown;  // SingleStream, MultiStream: of the percentile that the scenario names
  double best_training_s = kUnknown;
  std::string best_version, best_platform;
  int64_t best_count = 1;
  size_t with_power = 0;                 // results that measured power
  double best_samples_per_j = kUnknown;  // of those
};

struct TaskTable {
  std::string model, scenario;
  std::vector<TaskEntry> entries;  // the best per accelerator first
};

// Of the results that are valid and state a rate, in order of model and scenario. A result of SingleStream or
// MultiStream, where one accelerator works at a time, isn't divided by their number.
std::vector<TaskTable> task_tables(const std::vector<PublishedResult>& results,
                                   const std::vector<DeviceFacts>& devices);

// Samples for a joule of the whole system's average power; kUnknown where no power was measured.
double samples_per_joule(const PublishedResult& result);

}  // namespace perfcast::ai
