#pragma once
// Use case: loads on an engine on CPU servers, simulated as forecast_serving() simulates it on devices.

#include <optional>
#include <vector>

#include "ai/cpu_tokens/llm_work.h"
#include "ai/engine/cpu_engine_profile.h"
#include "ai/serving/serving_forecast.h"

namespace perfcast::ai {

struct CpuServer {
  CpuEngineMachine machine;
  CpuEngineWidths widths;        // of single streams
  std::optional<bool> has_room;  // for the model and a mean request; empty: its memory isn't known
};

struct CpuService {
  CpuEngineProfile engine;
  LlmWork work;
  bool sorts = false;              // as CpuEngineRequest has it
  std::vector<CpuServer> servers;  // of the request's devices, in their order
};

// As vLLM sets them on CPUs by itself, for so many processes: 128 sequences and 2048 tokens of a step for each, and
// 4 GiB for keys and values in each.
EngineLimits cpu_engine_limits(const LlmWork& work, int64_t processes);

// Of the request: devices' names and prices, loads, limits, replicas, router, objectives, and formats.tensor_parallel
// as the processes of an engine. "too-long" where no request fits, "no-memory"; errors of serve() and of `take`.
Result<ServingResult> forecast_serving_on_cpus(const CpuService& service, ServingRequestFor request,
                                               const TakeRun& take = {});

}  // namespace perfcast::ai
