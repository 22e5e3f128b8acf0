#pragma once
// A mix of programs for the simulator from the corpus: what they took on each platform of a cluster, and what a model
// that never saw their family says of it.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/table_options.h"
#include "schedule/jobs/cluster.h"
#include "schedule/traces/job_mix.h"

namespace perfcast {

struct CorpusMixOptions {
  TableArguments table;
  std::string model = "stack";
  double mean_job_s = 600;  // geometric mean of a program's time over the platforms of the cluster
  int32_t cores = 1;        // of each job
  // A platform of the cluster where each program's time is known from a run, so that forecasts are right there and as
  // wrong elsewhere as their ratio is; empty: their mean over the cluster is what is known.
  std::string measured_on;
};

// Programs measured on every platform of the cluster. Times: the corpus' medians over servers, scaled so that each
// program's geometric mean over the cluster is `mean_job_s`; forecasts and 90% intervals: of the model, fitted without
// the program's family on all platforms of the corpus, at the same level (a forecast is of relative time: the level is
// what the user has measured once, see measured_on). "missing-platform", "empty-corpus", and what `evaluate` fails
// with.
Result<ProgramMix> mix_from_corpus(const CommonOptions& common, const CorpusMixOptions& options,
                                   const Cluster& cluster);

}  // namespace perfcast
