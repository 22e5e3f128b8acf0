#pragma once
// Use case: size this cluster. How many nodes of each platform a stream of jobs needs.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "fleet/capacity/capacity.h"
#include "fleet/plan/job_stream.h"

namespace perfcast::fleet {

struct SizeClusterRequest {
  JobStream stream;  // its cluster's groups are the candidates, their nodes the most that can be had
  // Objectives, goal, policy, growth, errors and limits of the search. What the stream says is filled in: candidates,
  // currency, demand, rate, seeds, and `perturb` where there are errors and the policy goes by forecasts.
  CapacityRequest plan;
  uint64_t seed = 1;
  std::optional<int64_t> seeds;    // samples, with seed, seed + 1, ...; absent: 10, of a trace 1
  std::optional<int64_t> at_most;  // nodes of each platform in the place of the cluster's, or kAnyNumber
  bool goal_is_given = true;       // false: the fewest nodes where cost is the goal and prices are missing
  // False: `plan.policy`, or of easy and sjf the one whose plan saves most, where it is not at the lower bound already.
  bool policy_is_given = true;
};

// The stream's groups, with as many nodes as can be had.
std::vector<NodeGroup> candidates_of(const SizeClusterRequest& request);

// Notes of the jobs, the cluster and the request come first in the answer's. Errors: plan_capacity()'s, and the
// stream's.
Result<CapacityAnswer> size_cluster(const SizeClusterRequest& request);

}  // namespace perfcast::fleet
