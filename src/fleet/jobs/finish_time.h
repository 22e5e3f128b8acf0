#pragma once
// Finish-time fairness: what sharing a cluster costs a job against a share of it for itself (K. Mahajan et al.,
// "Themis", NSDI 2020, section 3; with shares as D. Narayanan et al., OSDI 2020, section 4.2).

#include <cstddef>
#include <span>
#include <vector>

#include "fleet/jobs/cluster.h"
#include "fleet/jobs/outcome.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

// The part of its time that a job spends on each group where it holds `share` (0 to 1) of all of them for itself:
// share x capacity / units, scaled down where the parts add up to more than 1; 0 where it can't run. `capacity`:
// [groups] cores or GPUs, whichever the job asks for; `seconds`: [groups] its time there, NaN: can't run.
std::vector<double> parts_of_own_share(double share, double units, std::span<const double> capacity,
                                       std::span<const double> seconds);

// [jobs] rho = (end - ready) / (its time in a share of its own) of the jobs done, NaN of the others. Its share is
// priority / priorities of the jobs in the system, itself included, on the mean over its stay; jobs that ask for GPUs
// share GPUs, others cores. Up to 1 a job is no worse off than by itself.
std::vector<double> finish_time_rhos(const Cluster& cluster, const Workload& workload, const Outcome& outcome);

}  // namespace perfcast::fleet
