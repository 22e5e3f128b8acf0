#pragma once
// Plans on draws of the jobs that the search did not use. Internal to capacity planning.

#include <optional>
#include <utility>
#include <vector>

#include "fleet/capacity/capacity_evaluator.h"

namespace perfcast::fleet {

// A little more than nine of ten: a share of so many draws is itself a guess.
size_t fresh_draws_needed(size_t draws);

class FreshDraws {
 public:
  // `request` says how many; all three outlive this.
  FreshDraws(const CapacityRequest& request, CapacitySizing& sizing, CapacityCount& count)
      : request_(request), sizing_(sizing), count_(count) {}

  // The cheapest plan from the value `least` on that holds on the search's draws (`evaluator`) and on enough fresh
  // ones, and in how many of these: among `plans` and their neighbours, which have a node more or give one up for
  // others; within the numbers and the cost limit of `limits`. None: it was not found.
  using Tried = std::optional<std::pair<NodePlan, size_t>>;
  Result<Tried> cheapest(PlanEvaluator& evaluator, const std::vector<NodePlan>& plans, double least,
                         const SizingInput& limits);

 private:
  // In how many all objectives hold; none where they are too few.
  Result<std::optional<size_t>> count_held(const NodePlan& plan);

  const CapacityRequest& request_;
  CapacitySizing& sizing_;
  CapacityCount& count_;
  std::vector<std::vector<Workload>> draws_;  // one in each; kept where they are small
};

}  // namespace perfcast::fleet
