#pragma once
// A load of short requests on two invented devices.

#include <memory>
#include <string>

#include "ai/engine/testing/test_engine.h"
#include "ai/llm/model_catalogue.h"
#include "ai/serving/drawn_trace.h"
#include "ai/serving_plan/serving_plan.h"

namespace perfcast::ai::plan_test {

// 3 USD an hour and 700 W; 1 USD, 300 W, and 0.4 of the speed.
inline ServingPlanRequest request(double rate_per_s, const std::string& objective = "ttft=1s,tpot=150ms,share=95%") {
  ServingPlanRequest request;
  request.service.config = *built_in_model("llama3-8b");
  request.service.profile = std::make_shared<const EngineProfile>(engine_test::profile());
  DeviceFacts fast = engine_test::device(), slow = fast;
  fast.name = "Fast";
  fast.power_w = 700;
  slow.name = "Slow";
  slow.power_w = 300;
  slow.memory_bytes = 24e9;
  slow.memory_bytes_per_s *= 0.4;
  slow.peak_flops[static_cast<size_t>(MathMode::kHalf)] *= 0.4;
  request.service.devices = {{fast, engine_test::host(), 3}, {slow, engine_test::host(), 1}};
  request.tensor_parallel = {1, 2};
  if (!objective.empty()) request.service.objectives = {*parse_load_objective(objective, "")};
  request.load.rate_per_s = rate_per_s;
  request.load.words = "the load";
  request.load.requests = 1000;
  request.load.trace = [rate_per_s](double factor, int64_t requests) {
    return draw_trace({.requests = requests,
                       .prompt_tokens = 256,
                       .output_tokens = 32,
                       .log_spread = 0.5,
                       .rate_per_s = factor * rate_per_s});
  };
  return request;
}

}  // namespace perfcast::ai::plan_test
