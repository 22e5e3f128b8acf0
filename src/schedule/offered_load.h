#pragma once
// How much of a cluster's highest throughput a stream of jobs asks for.

#include "base/result.h"
#include "schedule/cluster.h"
#include "schedule/job_mix.h"
#include "schedule/workload.h"

namespace perfcast {

// Jobs per second that the cluster can carry of the mix at most, whatever the policy (fluid_capacity.h). "bad-mix"
// where some programs ask for GPUs and others don't, "missing-platform", "infeasible".
Result<double> highest_rate_per_s(const ProgramMix& mix, const Cluster& cluster);

// Arrivals per second, first to last, over the highest rate of the same jobs; programs count as kinds, as do jobs that
// can run on other platforms than the rest of their program. NaN where all arrive at once, some ask for GPUs and others
// don't, or nothing can run.
double offered_load(const Workload& workload, const Cluster& cluster);

}  // namespace perfcast
