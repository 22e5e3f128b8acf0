#pragma once
// A mix of programs for a stream of jobs: what they took on each platform of a cluster, and what a model that never saw
// their family says of it.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "corpus/corpus.h"
#include "schedule/jobs/cluster.h"
#include "schedule/traces/job_mix.h"

namespace perfcast {

struct ProgramMixRequest {
  std::string corpus;  // the table's, for people
  std::string model = "stack";
  double mean_job_s = 600;  // geometric mean of a program's time over the platforms of the cluster
  int32_t cores = 1;        // of each job
  // A platform of the cluster where each program's time is known from a run, so that forecasts are right there and as
  // wrong elsewhere as their ratio is; empty: their mean over the cluster is what is known.
  std::string measured_on;
  uint64_t seed = 1;
  int threads = 1;
  std::function<void(const std::string&)> progress;  // from any thread
};

// [groups of the cluster] -> platform of the table, by name or id. "missing-platform", with near names.
Result<std::vector<size_t>> platforms_of_cluster(const TrainingTable& table, const Cluster& cluster);

// Programs measured on every platform of the cluster. Times: the table's medians over servers, scaled so that each
// program's geometric mean over the cluster is `mean_job_s`; forecasts and 90% intervals: of the model, fitted without
// the program's family on all platforms of the table, at the same level (a forecast is of relative time: the level is
// what the user has measured once, see measured_on). "missing-platform", "empty-corpus"; usage errors "unknown-model"
// (where: "model") and "unknown-platform" ("measured_on"); what evaluate() fails with.
Result<ProgramMix> make_program_mix(const TrainingTable& table, const Cluster& cluster,
                                    const ProgramMixRequest& request);

}  // namespace perfcast
