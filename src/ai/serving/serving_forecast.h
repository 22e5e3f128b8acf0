#pragma once
// Use case: loads on services of an engine, simulated: devices by loads.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ai/engine/engine_profile.h"
#include "ai/engine/engine_step.h"
#include "ai/llm/model_config.h"
#include "ai/serving/serve.h"
#include "ai/serving/serving_summary.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

struct ServingDevice {
  DeviceFacts facts;
  EngineHost host;
  double price_per_hour = kUnknown;  // of one device, in US dollars
};

struct ServingLoad {
  double rate_per_s = kUnknown;  // that was asked for
  int64_t concurrency = 0;       // clients of a closed loop; 0: open
  int64_t most_in_flight = 0;    // of an open one, as ServeOptions has it
  std::string words;             // "5 requests/s"
  std::function<ServingTrace()> trace;
};

struct ServingRequestFor {
  LlmConfig config;
  EngineRequest formats;  // precisions, tensor_parallel
  std::shared_ptr<const EngineProfile> profile;
  std::vector<ServingDevice> devices;
  std::vector<ServingLoad> loads;
  // Limits that differ from the engine's own.
  std::optional<int64_t> max_sequences, step_tokens, cache_tokens;
  int64_t context_tokens = 0;      // as EngineLimits has it
  double cache_reserve_share = 0;  // likewise
  bool prefix_cache = true, chunked_prefill = true;
  int64_t receive_steps = 1;  // as EngineLimits has it
  int64_t replicas = 1;
  int64_t data_parallel = 1, pipeline_parallel = 1;  // engines, stages of a replica
  int64_t balance_steps = 0;                         // as ServeOptions has it
  bool expert_parallel = false;                      // each device holds whole experts, and not a part of each
  int64_t prefill_replicas = 0;                      // for prompts alone
  double transfer_bytes_per_s = kUnknown;            // of keys from there; by default the device's way to its host
  int64_t draft_tokens = 0;                          // guessed in a step
  double acceptance = 0;                             // as EngineLimits has it
  std::optional<double> draft_share;  // of a step's time, for each guess; by default one layer's: 1 / layers
  Router router = Router::kLeastLoaded;
  std::vector<LoadObjective> objectives;
  // Steps and front end at so many half widths of their 90% interval, above 0 slower, in place of the forecast and both
  // ends; ratios of EngineSpread are left to the caller.
  std::optional<double> error_half_widths;
};

// One service under one load.
struct ServingRow {
  size_t device = 0, load = 0;  // of the request
  int64_t devices = 1;          // of all replicas
  std::string problem;          // why nothing is simulated: the model doesn't fit, all requests are too long
  int64_t fits_on = 0;          // where it doesn't fit: devices that hold it together; 0: not known
  int64_t requests = 0;
  double prompt_tokens = 0, output_tokens = 0;  // means
  EngineLimits limits;
  ServingSummary forecast;
  // With steps and front end at the ends of the engine's 90% interval, then moved by EngineSpread's ratios of services;
  // empty where one error was asked for.
  ServingSummary slow, fast;
  double cost_per_million = kUnknown;  // tokens of output, in US dollars, at the forecast's rate
  double cost_per_request = kUnknown;
  std::vector<ServeSample> samples;  // of the forecast
  uint32_t unmeasured = 0;           // bits of EngineUnmeasured
};

struct ServingResult {
  ServingRequestFor request;
  int64_t parameters = 0;
  std::vector<ServingRow> rows;  // loads of a device side by side
};

// What one run came to, request by request: called after each row that was simulated.
using TakeRun = std::function<Status(const ServingRow& row, const ServingTrace& trace, const ServeRun& run)>;

// What can't go together in how devices share the work: "bad-usage" at "pipeline_parallel", "expert_parallel",
// "transfer_rate" or "whole_prompts". Of a request with its config, before its devices and loads are known.
Status check_parallel(const ServingRequestFor& request);

// "bad-usage" names a field; "no-memory", of kind kInfeasible, where no device holds the model, "too-long" where none
// holds any of the requests; errors of engine_work() and of `take`.
Result<ServingResult> forecast_serving(ServingRequestFor request, const TakeRun& take = {});

}  // namespace perfcast::ai
