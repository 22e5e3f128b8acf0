#pragma once
// The same jobs under several policies, for several seeds, and as the forecasts grow worse.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/compare/error_sweep.h"
#include "fleet/compare/policy_runs.h"
#include "fleet/policy/policy.h"
#include "fleet/policy/round_options.h"
#include "fleet/policy/simulation_options.h"

namespace perfcast::fleet {

struct ComparisonOptions {
  std::vector<Policy> policies;  // each runs once; empty: all that the workload and the cluster have the figures for
  uint64_t seed = 1;
  int64_t seeds = 1;             // repetitions with seed, seed + 1, ...
  SimulationOptions simulation;  // its seed is set for each repetition
  RoundOptions rounds;
  bool keep_segments = false;  // of the first seed
  int threads = 1;
  std::function<void(const std::string&)> progress = nullptr;  // from any thread
};

// The jobs of a repetition; called once for each seed, in turn.
using WorkloadSource = std::function<Result<Workload>(uint64_t seed)>;

// Runs of all policies, in the order named, each with every seed; outcomes of the first seed alone. Where no policies
// are named, those that lack a figure (forecasts, intervals, power, prices) are left out with a note. Errors:
// the simulators'.
Result<ScheduleReport> compare_policies(const Cluster& cluster, const WorkloadSource& source,
                                        const ComparisonOptions& options);

// The policies of `options` with forecasts made anew from the true times with each error (perturb_forecasts()), those
// that use none once. An error of a program and platform is the same for all policies of a seed.
Result<ErrorSweep> sweep_errors(const Cluster& cluster, const WorkloadSource& source, const ComparisonOptions& options,
                                const std::vector<double>& error_ratios);

}  // namespace perfcast::fleet
