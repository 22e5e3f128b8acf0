// perfcast llm serve-sim: what a service of a language model delivers under a load.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "ai/llm/model_catalogue.h"
#include "ai/serving/serving_report.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/ai/llm_devices.h"
#include "cli/ai/llm_serving_options.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"
#include "cli/shared/table_options.h"

namespace perfcast::cli {
namespace {

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
  auto devices = named_devices(**provider, is_any ? devices_with_prices(arguments.prices, **provider) : arguments.on);
  if (!devices) return devices.error();
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

Status take_formats(const ServingArguments& arguments, ai::ServingRequestFor& request) {
  ai::LlmWorkload formats;
  if (Status taken = take_precision(request.config, arguments.precision, formats); !taken) return taken;
  request.formats.weights = formats.weights;
  request.formats.activations = formats.activations;
  request.formats.kv = formats.kv;
  request.formats.weight_bits_per_value = formats.weight_bits_per_value;
  request.formats.tensor_parallel = formats.tensor_parallel;
  return {};
}

}  // namespace

Result<ai::ServingRequestFor> serving_request_of(const ServingArguments& arguments) {
  ai::ServingRequestFor request;
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
  request.prefix_cache = !arguments.no_prefix_cache;
  request.chunked_prefill = !arguments.whole_prompts;
  request.replicas = arguments.replicas;
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

namespace {

Status check_request(const ServingArguments& arguments, const CommonOptions& common) {
  if (Status fine = check_serving(arguments, common); !fine) return fine;
  if (!arguments.request_times.empty() && arguments.request_times == common.output) {
    return usage_error("bad-usage", "requests and the result go to one place", "--request-times", "another file");
  }
  return check_output_file("--request-times", arguments.request_times);
}

int run_serving(const CommandContext& context, const ServingArguments& arguments) {
  const CommonOptions& common = context.options;
  if (Status fine = check_request(arguments, common); !fine) return report_error(fine.error(), common);
  auto request = serving_request_of(arguments);
  if (!request) return report_error(request.error(), common);
  std::vector<std::string> notes;
  ServingLoads loads(arguments, common.seed);
  if (Status read = loads.read(request->loads, notes); !read) return report_error(read.error(), common);
  std::string times;
  ai::TakeRun take;
  const ai::ServingRequestFor asked = *request;
  if (!arguments.request_times.empty()) {
    take = [&](const ai::ServingRow& row, const ai::ServingTrace& trace, const ai::ServeRun& run) -> Status {
      times += ai::request_times_csv(asked, row, trace, run, times.empty());
      return {};
    };
  }
  auto result = ai::forecast_serving(*std::move(request), take);
  if (!result) return report_error(as_usage(with_option_names(result.error(), *arguments.verb)), common);
  if (!arguments.request_times.empty()) {
    if (Status written = write_file_atomically(arguments.request_times, times); !written) {
      return report_error(written.error(), common);
    }
  }
  const ai::ServingReport report = ai::report_serving(*std::move(result), std::move(notes));
  if (arguments.csv && !common.quiet) {
    for (const std::string& note : report.notes) std::fprintf(stderr, "note: %s\n", printable(note).c_str());
  }
  return write_result(common.json     ? to_text(ai::serving_json(report))
                      : arguments.csv ? ai::serving_csv(report)
                                      : ai::serving_text(report),
                      common);
}

}  // namespace

void add_serving_engine_options(CLI::App& verb, ServingArguments& arguments) {
  add_advanced(verb, "--router", arguments.router, "NAME",
               "How requests find a replica: round-robin, least-loaded or prefix-aware.")
      ->capture_default_str();
  add_advanced(verb, "--max-sequences", arguments.max_sequences, "N",
               "Sequences that an engine runs at once. By default 256.")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}));
  add_advanced(verb, "--step-tokens", arguments.step_tokens, "N",
               "Tokens of a step at the most. By default the engine's own for the device.")
      ->check(CLI::Range(int64_t{1}, kMostServingTokens));
  add_advanced(verb, "--cache-tokens", arguments.cache_tokens, "N",
               "Tokens that fit the cache of an engine. By default what its devices have room for.")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  add_advanced(verb, "--context-tokens", arguments.context_tokens, "N",
               "Longer requests are refused. By default what the cache holds.")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  add_advanced(verb, "--no-prefix-cache", arguments.no_prefix_cache, "Computes prefixes anew for each request.");
  add_advanced(verb, "--whole-prompts", arguments.whole_prompts,
               "Computes each prompt in one step of its own; sequences that generate wait meanwhile.");
}

namespace {

void add_service_options(CLI::App& verb, ServingArguments& arguments) {
  add_basic(verb, "--replicas", arguments.replicas, "N", "Engines that share the load.")
      ->check(CLI::Range(int64_t{1}, int64_t{10000}))
      ->capture_default_str();
  add_basic(verb, "--tensor-parallel", arguments.precision.tensor_parallel, "N", "Devices that share every layer.")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}))
      ->capture_default_str();
  add_serving_engine_options(verb, arguments);
  add_basic(verb, "--objective", arguments.objectives, "LIMITS",
            "Says which share of requests keeps these limits, and the goodput: ttft=2s,tpot=200ms,share=99%.")
      ->take_all()
      ->allow_extra_args(false);
  add_basic(verb, "--price", arguments.prices, "DEVICE=USD",
            "US dollars per hour of one device, such as H100=3.5, or one number for all.");
}

}  // namespace

void add_llm_serving_command(CLI::App& llm, CommandContext& context) {
  auto arguments = std::make_shared<ServingArguments>();
  CLI::App* verb = add_verb(
      llm, {"serve-sim",
            "Simulates a service under a load: whether it keeps up, its times, goodput and cost.",
            "",
            {"perfcast llm serve-sim llama3-8b --on H100,L40S --rate 5 --objective ttft=1s,tpot=50ms",
             "perfcast llm serve-sim llama3-70b --on H100 --tensor-parallel 4 --replicas 2 --trace requests.csv",
             "perfcast llm serve-sim llama3-8b --on A100-80GB --concurrency 1,8,64 --price 1.8"},
            "serving"});
  arguments->verb = verb;
  verb->footer("Intervals are 90%, of the engine's forecast. They hold no difference between your load and this one.");
  add_basic(*verb, "model", arguments->model, "MODEL",
            "A built-in name, a config.json, a folder with one, or a GGUF file.");
  add_basic(*verb, "--on", arguments->on, "DEVICE,...", "The devices of the service, by name, such as A100-80GB,H100.");
  add_advanced(*verb, "--device-file", arguments->device_file, "FILE",
               "Adds the facts of more devices from this file (JSON).");
  add_serving_load_options(*verb, *arguments);
  add_service_options(*verb, *arguments);
  add_engine_option(*verb, arguments->engine);
  add_host_option(*verb, arguments->engine);
  add_llm_precision_options(*verb, arguments->precision);
  add_advanced(*verb, "--request-times", arguments->request_times, "FILE",
               "Writes each request's times into this file (CSV).");
  add_advanced(*verb, "--csv", arguments->csv, "Prints one line of CSV for each device and load.");
  add_common_options(*verb, context, kQuietOption | kSeedOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_serving(context, *arguments); }; });
}

}  // namespace perfcast::cli
