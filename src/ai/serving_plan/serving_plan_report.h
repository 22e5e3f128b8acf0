#pragma once
// A plan of a service for people and machines.

#include <string>
#include <vector>

#include "ai/serving_plan/serving_plan.h"
#include "base/json_fwd.h"

namespace perfcast::ai {

struct ServingPlanReport {
  ServingPlan plan;
  std::vector<std::string> notes;
};
// With notes on devices that are left out, and those of a simulated service; `notes` come first.
ServingPlanReport report_serving_plan(ServingPlan plan, std::vector<std::string> notes = {});

// The plan first, then how much it holds, then the best of each device.
std::string serving_plan_text(const ServingPlanReport& report);
// A line for each device.
std::string serving_plan_csv(const ServingPlanReport& report);
// Schema perfcast.serving-plan/1; absent figures are left out.
Json serving_plan_json(const ServingPlanReport& report);

}  // namespace perfcast::ai
