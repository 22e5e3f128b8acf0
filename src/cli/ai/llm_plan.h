#pragma once
// perfcast capacity --llm: how many of which device serve a language model's load.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ai/serving_plan/serving_plan.h"
#include "cli/ai/llm_serving_options.h"
#include "cli/command.h"

namespace perfcast::cli {

struct LlmPlanArguments {
  ServingArguments serving;  // its model is --llm; empty: not asked for
  std::vector<std::string> degrees = {"1,2,4,8"};
  std::optional<double> confidence;
};
void add_llm_plan_options(CLI::App& verb, LlmPlanArguments& arguments);

// "1,1.25,2" or "20%/month"; "none": neither. "bad-usage".
Status take_load_growth(const std::vector<std::string>& texts, ai::ServingPlanRequest& request);

// `request` has what the verb's own options say: limits, growth. Without a goal: cost where a price is given, else
// devices.
int run_llm_plan(const CommonOptions& common, const LlmPlanArguments& arguments, ai::ServingPlanRequest request,
                 std::optional<ai::PlanGoal> goal);

}  // namespace perfcast::cli
