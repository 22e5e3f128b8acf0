#pragma once
// A mix of programs for a stream of jobs: what they took on each platform of a cluster, and what a model that never saw
// their family says of it.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/cluster.h"
#include "fleet/traces/job_mix.h"
#include "place/jobs/instance_groups.h"
#include "program/corpus/corpus.h"
#include "program/model/scaling/scaling_table.h"

namespace perfcast::place {

struct ProgramMixRequest {
  std::string corpus;  // the table's, for people
  std::string model = "stack";
  double mean_job_s = 600;  // geometric mean of a program's time over the platforms of the cluster
  int32_t cores = 1;        // of each job
  // A platform of the cluster where each program's time is known from a run, so that forecasts are right there and as
  // wrong elsewhere as their ratio is; empty: their mean over the cluster is what is known.
  std::string measured_on;
  // Of the instance types that groups are; null where none is one.
  const std::vector<program::Server>* servers = nullptr;
  const program::ScalingTable* scaling = nullptr;
  uint64_t seed = 1;
  int threads = 1;
  std::function<void(const std::string&)> progress;  // from any thread
};

// Programs measured on every group of the cluster. Times: on a CPU model the table's medians over servers, on an
// instance type those of a copy among as many as the group's cores, scaled so that each program's geometric mean over
// the cluster is `mean_job_s`; forecasts and 90% intervals: of the model, fitted without the program's family on all
// platforms of the table, on instance types with a scaling model made without it too, at the same level (a forecast is
// of relative time: the level is what the user has measured once, see measured_on). `machines`: find_machines() of the
// cluster among the table's platforms and the request's servers. "empty-corpus"; usage errors "unknown-model" (where:
// "model") and "unknown-platform" ("measured_on"); what evaluate() and forecast_one_copy() fail with.
Result<fleet::ProgramMix> make_program_mix(const program::TrainingTable& table, const fleet::Cluster& cluster,
                                           const std::vector<GroupMachine>& machines, const ProgramMixRequest& request);

}  // namespace perfcast::place
