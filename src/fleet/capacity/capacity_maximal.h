#pragma once
// Largest plans under a limit. Internal to capacity planning.

#include <span>
#include <vector>

#include "fleet/capacity/capacity_sizing.h"

namespace perfcast::fleet {

struct MaximalPlans {
  std::vector<NodePlan> plans;
  bool all = true;  // false: there are more than `at_most`
};

// Plans whose weight is at most `limit` and to which no node can be added within the limit and `most` (kAnyNumber: no
// end). What weighs nothing has an end in `most`; the limit may be infinite where all have one.
MaximalPlans maximal_plans(std::span<const double> weight, std::span<const int64_t> most, double limit, size_t at_most);

bool contains(const NodePlan& large, const NodePlan& small);  // at least as many of each

}  // namespace perfcast::fleet
