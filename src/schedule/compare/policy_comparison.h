#pragma once
// The same jobs under several policies, for several seeds, and as the forecasts grow worse.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/compare/error_sweep.h"
#include "schedule/compare/policy_runs.h"
#include "schedule/simulate/round_simulator.h"
#include "schedule/simulate/simulator.h"

namespace perfcast {

// A policy of either simulator: policy.h's run each job to its end where it starts, share_policies.h's preempt.
struct AnyPolicy {
  std::string name, text;
  bool preempts = false;
  bool uses_forecasts = false;
};
std::vector<AnyPolicy> all_policies();
// "unknown-policy" for the first name that is none.
Status check_policies(const std::vector<std::string>& names);

struct ComparisonOptions {
  std::vector<std::string> policies;  // names; empty: all that the workload and the cluster have the figures for
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
// "unknown-policy", and the simulators'.
Result<ScheduleReport> compare_policies(const Cluster& cluster, const WorkloadSource& source,
                                        const ComparisonOptions& options);

// The policies of `options` with forecasts made anew from the true times with each error (perturb_forecasts()), those
// that use none once. An error of a program and platform is the same for all policies of a seed.
Result<ErrorSweep> sweep_errors(const Cluster& cluster, const WorkloadSource& source, const ComparisonOptions& options,
                                const std::vector<double>& error_ratios);

}  // namespace perfcast
