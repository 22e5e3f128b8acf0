#pragma once
// Policies that hand out shares of time on the groups of a cluster, as Gavel does: Narayanan et al.,
// "Heterogeneity-aware cluster scheduling policies for deep learning workloads", OSDI 2020, section 4. A share X[m][g]
// is the part of the time from now on that job m is to spend on group g: 0 <= X, sum_g X[m][g] <= 1, and for cores and
// GPUs sum_m units_m X[m][g] <= capacity_g.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/workload.h"
#include "fleet/policy/policy.h"
#include "fleet/policy/round_options.h"

namespace perfcast::fleet {

enum class Resource : uint8_t { kCores, kGpus };

struct ShareJob {
  double weight = 1;
  double units = 1;  // cores or GPUs that it needs at once
  Resource resource = Resource::kGpus;
  double remaining = 1;        // of its work, 0 to 1
  int32_t running = kNoIndex;  // the group where it ran in the last round
  // For finish-time fairness: how long it has been in the system, and how long the work done so far would have taken in
  // a share of its own.
  double elapsed_s = 0, isolated_s = 0;
};

struct ShareProblem {
  size_t groups = 0;
  std::vector<ShareJob> jobs;   // [n] in order of arrival
  std::vector<double> seconds;  // [n x groups] the whole job's time there, above 0, as far as is known; NaN: can't run
  std::vector<double> cores, gpus;  // [groups] capacity

  double capacity(Resource resource, size_t group) const {
    return resource == Resource::kGpus ? gpus[group] : cores[group];
  }
};

// X, [n x groups]. With T = 1 / seconds:
// - fifo: in order of arrival each job takes the first group, as the cluster lists them, that has room, and stays there
//   until it ends; who finds no room blocks those behind.
// - fifo-fastest: the same with the fastest group for the job among those that have room.
// - fifo-aware: maximise sum_m (n - m) T(m, X) / max_g T[m][g], m counting from 0 in order of arrival.
// - max-min: the same for every group's speed; each job's time is split over the groups in proportion to their
// capacity.
// - max-min-aware: maximise min_m units_m / w_m T(m, X) / T(m, X_equal), X_equal a job's time split over all groups in
//   proportion to capacity; least attained service, normalised.
// - makespan-aware: maximise min_m T(m, X) / remaining_m: the earliest end of the last job.
// - finish-time-fair: minimise max_m rho_m, rho_m = (elapsed_m + remaining_m / T(m, X)) / (isolated_m + remaining_m /
//   T(m, X_own)), X_own the shares of isolated_speeds(); by bisection, to within 1% (Gavel's section 4.2, after
//   Themis).
// Jobs that are alike to the objective share one column each, which loses nothing: a mean of optima is an optimum.
// Every job must be able to run on a group that holds it. Errors: the linear program's; "bad-option" for a policy that
// doesn't preempt.
Result<std::vector<double>> allocate_shares(Policy policy, LeftOver left_over, const ShareProblem& problem);

// [n] Part of its whole work that each job does in a second in a share of its own: weight / weights of all jobs that
// want the same resource, of every group where it can run (parts_of_own_share()). All of them fit at once.
std::vector<double> isolated_speeds(const ShareProblem& problem);

}  // namespace perfcast::fleet
