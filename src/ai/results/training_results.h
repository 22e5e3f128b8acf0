#pragma once
// Published results of MLPerf training from a table of runs in CSV: one row for each run of a system on a benchmark.
// Columns that it must have: version, division, submitter, platform, benchmark, time_to_train_min, status, accelerator,
// accels_per_node, nodes. Taken where they are there: host_cpu, host_cpus_per_node, framework.

#include <string>
#include <string_view>
#include <vector>

#include "ai/results/published_result.h"
#include "base/result.h"

namespace perfcast::ai {

struct TrainingResults {
  std::vector<PublishedResult> results;  // one for each system and benchmark, with a score; scenario "Training"
  size_t runs = 0;                       // rows of the table
  size_t unfinished_runs = 0;            // that were aborted, or state no time
  size_t without_score = 0;              // systems and benchmarks
};

// The score of a system on a benchmark is training_score()'s of its runs (ai/train_time/training_score.h): without the
// fastest and the slowest, the mean of the rest. "missing-column", "bad-number".
Result<TrainingResults> parse_training_results(std::string_view csv, const std::string& source);

}  // namespace perfcast::ai
