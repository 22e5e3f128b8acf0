#pragma once
// The search for the best plan over simulations, between the fluid bound and what meets. Internal to capacity planning.

#include <optional>

#include "fleet/capacity/capacity_evaluator.h"

namespace perfcast::fleet {

struct SearchResult {
  std::optional<NodePlan> best;  // meets
  // Where none does because of limits: the plan within them that comes nearest.
  NodePlan nearest;
  bool overloaded = false;  // no plan within the limits even carries the load
  bool complete = false;    // no cheaper plan is left that may meet (capacity.h)
  // Why there is neither: "unreachable-objective", no limit is in the way and yet no plan meets; "budget-too-small", no
  // plan within the limits holds every job.
  std::optional<Error> impossible;
};

// `sizing` has the candidates' numbers and the most cost per hour that hold for this search; it may allow less than the
// evaluator knows. At most `most_plans` plans are simulated. Errors: the simulator's and the linear program's.
Result<SearchResult> search_plans(PlanEvaluator& evaluator, const CapacitySizing& sizing, int64_t most_plans);

// Fluid load at which Allen and Cunneen's formula for one pool of servers would just meet the objectives on waits: a
// place to start from.
double queueing_load(const CapacityRequest& request, const Workload& sample, const CapacitySizing& sizing,
                     double rate_factor);

}  // namespace perfcast::fleet
