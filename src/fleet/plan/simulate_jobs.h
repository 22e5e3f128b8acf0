#pragma once
// Use case: simulate these jobs. The same jobs under several policies, and as the forecasts grow worse.

#include <optional>
#include <vector>

#include "base/result.h"
#include "fleet/compare/error_sweep.h"
#include "fleet/compare/policy_comparison.h"
#include "fleet/compare/policy_runs.h"
#include "fleet/plan/job_stream.h"

namespace perfcast::fleet {

struct SimulateJobsRequest {
  JobStream stream;
  ComparisonOptions comparison;
  std::vector<double> error_ratios;  // of forecasts made anew, each simulated; empty: no sweep
};

struct SimulatedJobs {
  ScheduleReport report;
  double offered_load = kUnknown;  // of the most that any policy could carry
  std::optional<ErrorSweep> sweep;
};

// "no-forecast" (kInfeasible), saying why, where no policy can be used; compare_policies()'s and sweep_errors()'
// errors.
Result<SimulatedJobs> simulate_jobs(const SimulateJobsRequest& request);

}  // namespace perfcast::fleet
