#include "cli/ai/llm_serving_options.h"

#include <cmath>
#include <string>
#include <utility>

#include "ai/llm/model_catalogue.h"
#include "base/csv.h"
#include "base/text.h"
#include "cli/ai/llm_devices.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"
#include "cli/shared/table_options.h"

namespace perfcast::cli {
namespace {

constexpr double kMostDrafts = 64;

// Those with a price of their own; all, where a price is for all or none is given.
std::vector<std::string> devices_with_prices(const std::vector<std::string>& prices, const ai::DeviceProvider& all) {
  std::vector<std::string> names;
  for (const std::string& text : list_of(prices)) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos) return all.names();
    names.push_back(text.substr(0, equals));
  }
  return names.empty() ? all.names() : names;
}

Status take_devices(const ServingArguments& arguments, const ai::EngineTerms& engine, ai::ServingRequestFor& request) {
  const auto provider = open_devices(arguments.device_file);
  if (!provider) return provider.error();
  const bool is_any = arguments.any_device && arguments.on.empty();
  auto devices = chosen_devices(**provider, is_any ? devices_with_prices(arguments.prices, **provider) : arguments.on);
  if (!devices) {
    Error error = devices.error();
    if (is_any && (error.where == "--on" || error.where == "on")) error.where = "--price";
    return error;
  }
  for (ai::ForecastDevice& device : *devices) device.terms.engine = engine;
  if (Status taken = take_values(arguments.prices, "--price", **provider, *devices, &ai::DeviceTerms::price_per_hour);
      !taken) {
    return taken;
  }
  if (Status taken = take_hosts(arguments.engine.hosts, **provider, *devices); !taken) return taken;
  for (const ai::ForecastDevice& device : *devices) {
    request.devices.push_back({device.model->device(), device.terms.engine.host, device.terms.price_per_hour});
  }
  return {};
}

// "4,0.7" or "4,0.7,0.05".
Status take_speculative(const ServingArguments& arguments, ai::ServingRequestFor& request) {
  if (arguments.speculative.empty()) return {};
  std::vector<double> numbers;
  for (const std::string& text : list_of(arguments.speculative)) numbers.push_back(parse_number(text).value_or(NAN));
  const bool fine = (numbers.size() == 2 || numbers.size() == 3) && numbers[0] >= 1 && numbers[0] <= kMostDrafts &&
                    numbers[0] == std::floor(numbers[0]) && numbers[1] >= 0 && numbers[1] <= 1 &&
                    (numbers.size() == 2 || (numbers[2] >= 0 && numbers[2] <= 1));
  if (!fine) {
    return usage_error(
        "bad-usage", "'" + printable(join(arguments.speculative, ",")) + "' says no guesses", "--speculative",
        "how many tokens are guessed in a step (1 to 64), the share of guesses that are right (0 to 1), and "
        "if known the share of a step's time that a guess takes, such as 4,0.7 or 4,0.7,0.05");
  }
  request.draft_tokens = static_cast<int64_t>(numbers[0]);
  request.acceptance = numbers[1];
  if (numbers.size() == 3) request.draft_share = numbers[2];
  return {};
}

// How devices of a replica share its work, and replicas among each other.
Status take_parallel(const ServingArguments& arguments, ai::ServingRequestFor& request) {
  request.replicas = arguments.replicas;
  request.prefill_replicas = arguments.prefill_replicas;
  request.data_parallel = arguments.data_parallel;
  request.pipeline_parallel = arguments.pipeline_parallel;
  request.expert_parallel = arguments.expert_parallel;
  request.balance_steps = arguments.balance_steps;
  request.transfer_bytes_per_s = 1e9 * arguments.transfer_gb_per_s.value_or(kUnknown);
  if (Status fits = ai::check_parallel(request); !fits) return fits;
  return take_speculative(arguments, request);
}

Status take_formats(const ServingArguments& arguments, ai::ServingRequestFor& request) {
  ai::LlmWorkload formats;
  if (Status taken = ai::take_formats(request.config, arguments.precision, formats); !taken) return taken;
  request.formats.weights = formats.weights;
  request.formats.activations = formats.activations;
  request.formats.kv = formats.kv;
  request.formats.weight_bits_per_value = formats.weight_bits_per_value;
  request.formats.tensor_parallel = formats.tensor_parallel;
  return {};
}

}  // namespace

Status take_service(const ServingArguments& arguments, ai::ServingRequestFor& request) {
  const auto router = ai::router_from(arguments.router);
  if (!router) return router.error();
  request.router = *router;
  for (const std::string& text : arguments.objectives) {
    auto objective = ai::parse_load_objective(text, "--objective");
    if (!objective) return objective.error();
    request.objectives.push_back(*std::move(objective));
  }
  request.max_sequences = arguments.max_sequences;
  request.step_tokens = arguments.step_tokens;
  request.cache_tokens = arguments.cache_tokens;
  request.context_tokens = arguments.context_tokens.value_or(0);
  request.cache_reserve_share = arguments.cache_reserve;
  request.prefix_cache = !arguments.no_prefix_cache;
  request.chunked_prefill = !arguments.whole_prompts;
  request.receive_steps = arguments.receive_steps;
  request.replicas = arguments.replicas;
  return {};
}

Result<ai::ServingRequestFor> serving_request_of(const ServingArguments& arguments) {
  ai::ServingRequestFor request;
  if (Status taken = take_service(arguments, request); !taken) return taken.error();
  if (arguments.model.empty()) {
    return usage_error(
        "bad-usage", "no model is named", arguments.command,
        "a built-in name (perfcast llm analyze --list), a config.json, a folder with one, or a GGUF file");
  }
  const auto config = ai::load_model(arguments.model);
  if (!config) return as_named_file(config.error(), true);
  request.config = *config;
  if (Status taken = take_formats(arguments, request); !taken) return taken.error();
  const auto engine = engine_of(arguments.engine);
  if (!engine) return engine.error();
  if (!engine->profile) {
    return usage_error("bad-usage", "a service without an engine", "--engine",
                       "an engine; perfcast llm forecast --engine none has kernels alone");
  }
  request.profile = engine->profile;
  if (Status taken = take_parallel(arguments, request); !taken) return taken.error();
  if (Status taken = take_devices(arguments, *engine, request); !taken) return taken.error();
  return request;
}

Status check_serving(const ServingArguments& arguments, const CommonOptions& common) {
  if (arguments.csv && common.json) return usage_error("bad-usage", "two formats at once", "--csv", "--csv or --json");
  if (Status there = check_named_file("--device-file", arguments.device_file); !there) return there;
  if (arguments.shape.shared_tokens > 0 &&
      static_cast<double>(arguments.shape.shared_tokens) > arguments.shape.prompt_tokens) {
    return usage_error("bad-usage", "a shared prefix that is longer than a prompt", "--shared-prefix",
                       "at most --prompt-tokens, " + csv_number(arguments.shape.prompt_tokens));
  }
  return {};
}

void add_serving_engine_options(CLI::App& verb, ServingArguments& arguments) {
  add_advanced(verb, "--router", arguments.router, "NAME",
               "How requests find a replica: round-robin, least-loaded or prefix-aware.")
      ->capture_default_str();
  add_advanced(verb, "--max-sequences", arguments.max_sequences, "N",
               "The most sequences that an engine runs at once. The default is 256.")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}));
  add_advanced(verb, "--step-tokens", arguments.step_tokens, "N",
               "The most tokens in one step. The default is the engine's own for the device.")
      ->check(CLI::Range(int64_t{1}, kMostServingTokens));
  add_advanced(verb, "--cache-tokens", arguments.cache_tokens, "N",
               "How many tokens the cache of an engine holds. The default is what fits in the memory of its devices.")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  add_advanced(verb, "--cache-reserve", arguments.cache_reserve, "SHARE",
               "Share of the cache that must stay free when a request is let in beside others, such as 0.01.")
      ->check(CLI::Range(0.0, 0.99))
      ->capture_default_str();
  add_advanced(verb, "--context-tokens", arguments.context_tokens, "N",
               "The longest request, prompt and answer; longer ones are refused. The default is what the cache holds.")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  add_advanced(verb, "--no-prefix-cache", arguments.no_prefix_cache,
               "Computes every prompt in full, even if another prompt began in the same way.");
  add_advanced(verb, "--whole-prompts", arguments.whole_prompts,
               "Computes each prompt in one step of its own. Other answers wait during this step.");
  add_advanced(verb, "--receive-steps", arguments.receive_steps, "N",
               "A busy engine looks for new requests once in N steps (SGLang: --scheduler-recv-interval).")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str();
  add_advanced(verb, "--balance-steps", arguments.balance_steps, "N",
               "With --data-parallel: a prompt waits until each engine has one, but at most N steps (TensorRT-LLM: "
               "attention_dp_config, timeout_iters).")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 20))
      ->capture_default_str();
}

}  // namespace perfcast::cli
