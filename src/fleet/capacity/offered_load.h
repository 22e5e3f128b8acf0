#pragma once
// How much of a cluster's highest throughput a stream of jobs asks for.

#include "base/result.h"
#include "fleet/jobs/cluster.h"
#include "fleet/jobs/workload.h"
#include "fleet/traces/job_mix.h"

namespace perfcast::fleet {

// Jobs per second that the cluster can carry of the mix at most, whatever the policy (fluid_capacity.h). "bad-mix"
// where some programs ask for GPUs and others don't, "missing-platform", "infeasible".
Result<double> highest_rate_per_s(const ProgramMix& mix, const Cluster& cluster);

// Arrivals per second, first to last, over the highest rate of the same jobs, run times up to their limits where these
// kill. Jobs whose times stand in the same proportions on the platforms are one kind. NaN where all arrive at once,
// some ask for GPUs and others don't, or nothing can run.
double offered_load(const Workload& workload, const Cluster& cluster, bool kill_at_limit = true);

}  // namespace perfcast::fleet
