#pragma once
// Services as the command line names them: shared by `llm serve-sim` and `capacity --llm`.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ai/serving/serving_forecast.h"
#include "base/result.h"
#include "cli/ai/llm_command.h"
#include "cli/ai/llm_engine.h"
#include "cli/ai/llm_serving_loads.h"

namespace perfcast::cli {

struct ServingArguments : ServingLoadArguments {
  std::string model, device_file, system, request_times, events, report, router = "least-loaded";
  std::vector<std::string> on, prices, objectives, speculative;
  EngineArguments engine;
  ai::WorkloadFormats precision;
  int64_t replicas = 1, prefill_replicas = 0, data_parallel = 1, pipeline_parallel = 1, receive_steps = 1,
          balance_steps = 0;
  double cache_reserve = 0;
  std::optional<double> transfer_gb_per_s;
  std::optional<double> vcpus;  // of a CPU server
  std::optional<int64_t> max_sequences, step_tokens, cache_tokens, context_tokens;
  bool no_prefix_cache = false, whole_prompts = false, expert_parallel = false, csv = false;
  bool any_device = false;  // without --on: those with a price of their own, or all

  bool given(const char* option) const { return verb->count(option) > 0; }
};

// Of every replica: how it schedules, and what its cache holds; the router.
void add_serving_engine_options(CLI::App& verb, ServingArguments& arguments);
// "bad-usage": two formats at once, a shared prefix that is longer than a prompt, a file of devices that isn't there.
Status check_serving(const ServingArguments& arguments, const CommonOptions& common);
// What holds of a service, whatever runs it: router, objectives, limits. "bad-usage" names the option.
Status take_service(const ServingArguments& arguments, ai::ServingRequestFor& request);
// All but the loads. "bad-usage" names the option; errors of load_model() and open_devices().
Result<ai::ServingRequestFor> serving_request_of(const ServingArguments& arguments);

}  // namespace perfcast::cli
