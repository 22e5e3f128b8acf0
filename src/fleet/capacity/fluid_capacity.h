#pragma once
// How many jobs a cluster can carry at most, in the long run: the fluid limit of the static part, without queues.

#include <span>
#include <vector>

#include "base/result.h"

namespace perfcast::fleet {

// One kind of job of a mix.
struct FluidKind {
  double share = 1;  // of the arrivals, relative to the other kinds' shares
  // [groups] Core-seconds (or GPU-seconds) that one such job takes there; NaN: can't run there.
  std::vector<double> unit_seconds;
};

struct FluidCapacity {
  double jobs_per_s = 0;       // the highest rate of arrivals, all kinds together, that no policy can exceed
  std::vector<double> routed;  // [kinds x groups] shares of a kind's jobs that run on each group then; rows sum to 1
  std::vector<double> load;    // [groups] of each group's capacity that is used then, 0 to 1
};

// maximise r subject to sum_g x_kg = r share_k, sum_k x_kg unit_seconds_kg <= capacity_g, x >= 0. `capacity` is the
// number of cores (or GPUs) of each group. An offered rate is a load of rate / jobs_per_s; from 1 on queues grow
// without end. "bad-mix": no kinds, negative or infinite numbers, rows of another length; "infeasible": a kind with a
// share above 0 can run on no group that has capacity; "unbounded": no kind takes any time.
Result<FluidCapacity> fluid_capacity(std::span<const FluidKind> kinds, std::span<const double> capacity);

}  // namespace perfcast::fleet
