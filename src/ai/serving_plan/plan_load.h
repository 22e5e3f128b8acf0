#pragma once
// The load of a plan, from one load of a service.

#include "ai/serving/serving_loads.h"
#include "ai/serving_plan/serving_plan.h"
#include "base/result.h"

namespace perfcast::ai {

// The only one, as a load that can be scaled. "bad-usage" where there are several; errors of ServingLoads::all().
Result<PlanLoad> plan_load_of(const ServingLoads& loads);

}  // namespace perfcast::ai
