#pragma once
// Where a job may start: decided as it arrives for policies that bind it then, as it starts for those that wait.

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "fleet/policy/backlog.h"
#include "fleet/policy/estimates.h"
#include "fleet/policy/simulation_options.h"
#include "fleet/policy/simulation_state.h"

namespace perfcast::fleet {

class Placement {
 public:
  Placement(const Cluster& cluster, const Workload& workload, Policy policy, const SimulationOptions& options,
            const Estimates& estimates, bool backfills);

  // `feasible`: groups that can run the job. Returns those where it may start, never none.
  uint64_t choose(int32_t job, uint64_t feasible, const SimulationState& state);
  // Groups of `open`, the one to try first in front.
  const std::vector<int32_t>& order(int32_t job, uint64_t open, const SimulationState& state);
  // Position in the queue: jobs of a lower key go first, of equal ones the earlier.
  double key(int32_t job, uint64_t feasible) const;

  // A job ended at another time than believed, or left the queue: what was added up about the group is out of date.
  void forget(int32_t group) { stale_ |= uint64_t{1} << group; }

 private:
  uint64_t take_turn(uint64_t feasible);
  uint64_t draw(uint64_t feasible);
  uint64_t first_done(int32_t job, uint64_t feasible, const SimulationState& state);
  void rebuild(int32_t group, const SimulationState& state);

  const Workload& workload_;
  const Estimates& estimates_;
  const PolicyInfo& policy_;
  double tie_ratio_;
  Random random_;
  std::vector<double> size_, turn_;  // per group: cores and GPUs; round robin's account
  std::vector<int32_t> ranks_;
  std::vector<Backlog> backlogs_;  // per group
  uint64_t stale_ = ~uint64_t{0};
  std::vector<int32_t> order_;
  std::vector<double> order_key_;
};

}  // namespace perfcast::fleet
