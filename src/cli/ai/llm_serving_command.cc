// perfcast llm serve-sim: what a service of a language model delivers under a load.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "ai/llm/model_catalogue.h"
#include "ai/serving/drawn_trace.h"
#include "ai/serving/measured_forecast.h"
#include "ai/serving/serving_events.h"
#include "ai/serving/serving_report.h"
#include "ai/serving/serving_trace.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/ai/llm_command.h"
#include "cli/ai/llm_devices.h"
#include "cli/ai/llm_engine.h"
#include "cli/option_table.h"
#include "cli/shared/amount_option.h"
#include "cli/shared/duration_option.h"
#include "cli/shared/named_file.h"
#include "cli/shared/table_options.h"

namespace perfcast::cli {
namespace {

constexpr int64_t kMostTokens = int64_t{1} << 24, kMostRequests = 10'000'000;
constexpr double kMostPrefixBlocks = 1 << 27;
constexpr double kMostDrafts = 64;
constexpr size_t kMostStepsBytes = size_t{4} << 20;
// Long enough to see a queue grow.
constexpr double kUsualSeconds = 600;
constexpr double kLeastUsual = 1000, kMostUsual = 100'000, kUsualRounds = 20;

struct ServingArguments {
  std::string model, device_file, system, trace, request_times, events, report, router = "least-loaded";
  std::vector<std::string> on, rates, clients, prices, objectives, speculative;
  EngineArguments engine;
  LlmPrecisionArguments precision;
  ai::TraceShape shape;
  int64_t requests = 0, replicas = 1, prefill_replicas = 0, data_parallel = 1, pipeline_parallel = 1, in_flight = 0;
  std::optional<double> transfer_gb_per_s;
  std::optional<int64_t> max_sequences, step_tokens, cache_tokens, context_tokens;
  int64_t receive_steps = 1;
  bool no_prefix_cache = false, whole_prompts = false, expert_parallel = false, csv = false;
  const CLI::App* verb = nullptr;

  bool given(const char* option) const { return verb->count(option) > 0; }
};

Result<std::vector<double>> rates_of(const std::vector<std::string>& given) {
  std::vector<double> rates;
  for (const std::string& text : list_of(given)) {
    const auto rate = parse_number(text);
    if (!rate || !(*rate > 0) || *rate > 1e6) {
      return usage_error("bad-usage", "'" + printable(text) + "' is no rate", "--rate",
                         "requests per second, above 0 and at most 1000000, as in 2,5,10");
    }
    rates.push_back(*rate);
  }
  return rates;
}

std::string rate_words(double rate) {
  const std::string text = csv_number(rate);
  return text + (text == "1" ? " request/s" : " requests/s");
}

// Loads by what the command line says.
class Loads {
 public:
  Loads(const ServingArguments& arguments, uint64_t seed) : arguments_(arguments), seed_(seed) {}

  Status read(std::vector<ai::ServingLoad>& loads, std::vector<std::string>& notes) {
    const auto rates = rates_of(arguments_.rates);
    if (!rates) return rates.error();
    const auto clients = counts_of(arguments_.clients, "--concurrency");
    if (!clients) return clients.error();
    if (!rates->empty() && !clients->empty()) {
      return usage_error("bad-usage", "a rate of arrivals, and clients that wait for their answers", "--concurrency",
                         "--rate or --concurrency");
    }
    const int64_t in_flight = arguments_.in_flight;
    if (!clients->empty() && in_flight > 0) {
      return usage_error("bad-usage", "clients of a closed loop, and a limit on requests that are under way",
                         "--most-in-flight", "--rate or a trace with it");
    }
    if (Status read = read_trace(rates->empty() && clients->empty(), notes); !read) return read;
    const std::string limited = in_flight > 0 ? ", at most " + std::to_string(in_flight) + " under way" : "";
    for (const double rate : *rates) {
      loads.push_back(
          {.rate_per_s = rate, .most_in_flight = in_flight, .words = rate_words(rate) + limited, .trace = [this, rate] {
             return trace_at(rate, 0);
           }});
    }
    for (const int64_t count : *clients) {
      loads.push_back({.concurrency = count,
                       .words = std::to_string(count) + (count == 1 ? " client" : " clients"),
                       .trace = [this, count] { return trace_at(0, count); }});
    }
    if (loads.empty()) {
      loads.push_back({.most_in_flight = in_flight,
                       .words = "the requests of " + printable(arguments_.trace) + limited,
                       .trace = [this] { return trace_at(0, 0); }});
    }
    return check_prefixes(loads);
  }

 private:
  Status read_trace(bool by_itself, std::vector<std::string>& notes) {
    if (arguments_.trace.empty()) {
      if (!by_itself) return {};
      return usage_error("bad-usage", "no load is named", "perfcast llm serve-sim",
                         "--rate R (requests per second), --concurrency N (clients) or --trace FILE");
    }
    Status unused =
        check_unused(*arguments_.verb, "a trace, which has its own requests",
                     {"--prompt-tokens", "--output-tokens", "--spread", "--turns", "--think-time", "--shared-prefix"});
    if (unused && by_itself)
      unused = check_unused(*arguments_.verb, "a trace at its own times", {"--burst"}, "--rate with it");
    if (!unused) return unused;
    if (Status there = check_named_file("--trace", arguments_.trace); !there) return there;
    const auto text = read_file(arguments_.trace);
    if (!text) return text.error();
    auto read = ai::read_serving_trace(*text, arguments_.trace);
    if (!read) return read.error();
    if (by_itself && !read->has_arrivals) {
      return usage_error("bad-usage", printable(arguments_.trace) + " has no times of arrival", "--trace",
                         "--rate R or --concurrency N beside it");
    }
    trace_ = std::move(read->trace);
    if (arguments_.requests > 0 && static_cast<size_t>(arguments_.requests) < trace_.requests.size()) {
      trace_.requests.resize(static_cast<size_t>(arguments_.requests));
    }
    for (const std::string& note : read->notes) notes.push_back("trace, " + read->form + ": " + note);
    return {};
  }

  Status check_prefixes(const std::vector<ai::ServingLoad>& loads) const {
    const ai::TraceShape& shape = arguments_.shape;
    if (!arguments_.trace.empty() || shape.turns == 1) return {};
    double most = 0;
    for (const ai::ServingLoad& load : loads) {
      const double each = (shape.prompt_tokens + shape.output_tokens) * static_cast<double>(shape.turns);
      // A conversation's blocks, for each of its turns; of 16 tokens.
      most = std::max(most, static_cast<double>(requests_of(load.rate_per_s, load.concurrency)) /
                                static_cast<double>(shape.turns) * each / 16);
    }
    if (most <= kMostPrefixBlocks) return {};
    return usage_error("bad-usage", "conversations of " + human_number(most * 16) + " tokens in all", "--requests",
                       "fewer requests, or shorter ones: at most " + human_number(kMostPrefixBlocks * 16) + " tokens");
  }

  int64_t requests_of(double rate, int64_t clients) const {
    if (arguments_.requests > 0) return arguments_.requests;
    const double usual = clients > 0 ? kUsualRounds * static_cast<double>(clients) : kUsualSeconds * rate;
    return static_cast<int64_t>(std::clamp(usual, kLeastUsual, kMostUsual));
  }

  ai::ServingTrace trace_at(double rate, int64_t clients) const {
    if (arguments_.trace.empty()) {
      ai::TraceShape shape = arguments_.shape;
      shape.requests = requests_of(rate, clients);
      shape.seed = seed_;
      shape.rate_per_s = rate / static_cast<double>(shape.turns);
      return ai::draw_trace(shape);
    }
    ai::ServingTrace trace = trace_;
    if (rate > 0) {
      const auto first = std::count_if(trace.requests.begin(), trace.requests.end(),
                                       [](const ai::ServingRequest& request) { return request.after < 0; });
      const double share = static_cast<double>(first) / static_cast<double>(trace.requests.size());
      ai::draw_arrivals(trace, rate * share, arguments_.shape.burst, seed_);
    }
    return trace;
  }

  const ServingArguments& arguments_;
  uint64_t seed_;
  ai::ServingTrace trace_;
};

Status take_devices(const ServingArguments& arguments, const ai::EngineTerms& engine, ai::ServingRequestFor& request) {
  const auto provider = open_devices(arguments.device_file);
  if (!provider) return provider.error();
  auto devices = named_devices(**provider, arguments.on);
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

// "4,0.7" or "4,0.7,0.05".
Status take_speculative(const ServingArguments& arguments, ai::ServingRequestFor& request) {
  if (!arguments.given("--speculative")) return {};
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
  request.transfer_bytes_per_s = 1e9 * arguments.transfer_gb_per_s.value_or(kUnknown);
  if (arguments.data_parallel > 1 && arguments.pipeline_parallel > 1) {
    return usage_error("bad-usage", "several engines of several stages in a replica", "--pipeline-parallel",
                       "--data-parallel or --pipeline-parallel, and --tensor-parallel beside it");
  }
  if (arguments.expert_parallel && !request.config.has_moe()) {
    return usage_error("bad-usage", printable(request.config.name) + " has no experts", "--expert-parallel",
                       "a mixture of experts, or the verb without it");
  }
  if (arguments.expert_parallel && arguments.data_parallel * arguments.precision.tensor_parallel == 1) {
    return usage_error("bad-usage", "experts of one device are on one device", "--expert-parallel",
                       "--data-parallel N or --tensor-parallel N with it");
  }
  if (arguments.prefill_replicas == 0 && arguments.transfer_gb_per_s) {
    return usage_error("bad-usage", "no replica hands requests over", "--transfer-rate",
                       "--prefill-replicas N with it");
  }
  if (arguments.prefill_replicas > 0 && arguments.whole_prompts) {
    return usage_error("bad-usage", "replicas for prompts alone cut nothing up for answers", "--whole-prompts",
                       "--prefill-replicas without it");
  }
  return take_speculative(arguments, request);
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

// Of a service, whatever runs it.
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
  request.prefix_cache = !arguments.no_prefix_cache;
  request.chunked_prefill = !arguments.whole_prompts;
  request.receive_steps = arguments.receive_steps;
  request.replicas = arguments.replicas;
  return {};
}

Result<ai::MeasuredSteps> measured_steps(const ServingArguments& arguments) {
  if (!arguments.model.empty()) {
    return usage_error("bad-usage", "a model, and a file of steps that says which it is", "--system", "one of both");
  }
  Status unused = check_unused(
      *arguments.verb, "a system whose steps were measured",
      {"--on", "--device-file", "--engine", "--host", "--tensor-parallel", "--data-parallel", "--pipeline-parallel",
       "--expert-parallel", "--prefill-replicas", "--speculative", "--link", "--price"},
      "a MODEL in the place of --system");
  if (!unused) return unused.error();
  const auto text = read_file(arguments.system, kMostStepsBytes);
  if (!text) return as_named_file(text.error(), true);
  return ai::parse_measured_steps(*text, arguments.system);
}

Result<ai::ServingRequestFor> request_of(const ServingArguments& arguments) {
  ai::ServingRequestFor request;
  if (Status taken = take_service(arguments, request); !taken) return taken.error();
  if (arguments.model.empty()) {
    return usage_error(
        "bad-usage", "no model is named", "perfcast llm serve-sim",
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

Status check_request(const ServingArguments& arguments, const CommonOptions& common) {
  if (arguments.csv && common.json) return usage_error("bad-usage", "two formats at once", "--csv", "--csv or --json");
  if (Status there = check_named_file("--device-file", arguments.device_file); !there) return there;
  const std::pair<const char*, std::string> files[] = {{"--request-times", arguments.request_times},
                                                       {"--events", arguments.events},
                                                       {"--report", arguments.report},
                                                       {"-o", common.output}};
  for (const auto& [option, file] : files) {
    if (Status fits = check_output_file(option, file); !fits) return fits;
    const auto same = std::count_if(std::begin(files), std::end(files),
                                    [&, &file = file](const auto& other) { return other.second == file; });
    if (!file.empty() && same > 1) {
      return usage_error("bad-usage", "two results go to one place", option, "another file");
    }
    if (!file.empty() && (file == arguments.trace || file == arguments.device_file)) {
      return usage_error("bad-usage", "'" + printable(file) + "' is read, too", option, "another file");
    }
  }
  if (arguments.shape.shared_tokens > 0 &&
      static_cast<double>(arguments.shape.shared_tokens) > arguments.shape.prompt_tokens) {
    return usage_error("bad-usage", "a shared prefix that is longer than a prompt", "--shared-prefix",
                       "at most --prompt-tokens, " + csv_number(arguments.shape.prompt_tokens));
  }
  return {};
}

int run_serving(const CommandContext& context, const ServingArguments& arguments) {
  const CommonOptions& common = context.options;
  if (Status fine = check_request(arguments, common); !fine) return report_error(fine.error(), common);
  std::vector<std::string> notes;
  std::optional<ai::MeasuredSteps> steps;
  Result<ai::ServingRequestFor> request = ai::ServingRequestFor();
  if (arguments.system.empty()) {
    request = request_of(arguments);
  } else {
    auto read = measured_steps(arguments);
    if (!read) return report_error(read.error(), common);
    steps = *std::move(read);
    if (Status taken = take_service(arguments, *request); !taken) return report_error(taken.error(), common);
    ai::take_engine(*steps, *request);
    notes.push_back("steps are measured, by perfcast bench serve --calibrate; an interval is of what " +
                    std::to_string(steps->checked_steps) + " other steps differed by");
  }
  if (!request) return report_error(request.error(), common);
  Loads loads(arguments, common.seed);
  if (Status read = loads.read(request->loads, notes); !read) return report_error(read.error(), common);
  std::string times;
  const ai::ServingRequestFor asked = *request;
  ai::ServingEvents events(asked);
  const ai::TakeRun take = [&](const ai::ServingRow& row, const ai::ServingTrace& trace,
                               const ai::ServeRun& run) -> Status {
    if (!arguments.request_times.empty()) times += ai::request_times_csv(asked, row, trace, run, times.empty());
    if (!arguments.events.empty()) events.add(row, trace, run);
    return {};
  };
  auto result = steps ? ai::forecast_measured(*steps, *std::move(request), take)
                      : ai::forecast_serving(*std::move(request), take);
  if (!result) return report_error(as_usage(with_option_names(result.error(), *arguments.verb)), common);
  const ai::ServingReport report = ai::report_serving(*std::move(result), std::move(notes));
  const std::pair<std::string, std::function<std::string()>> files[] = {
      {arguments.request_times, [&] { return std::move(times); }},
      {arguments.events, [&] { return events.take(); }},
      {arguments.report, [&] { return ai::serving_page(report); }}};
  for (const auto& [file, text] : files) {
    if (file.empty()) continue;
    if (Status written = write_file_atomically(file, text()); !written) return report_error(written.error(), common);
  }
  if (arguments.csv && !common.quiet) {
    for (const std::string& note : report.notes) std::fprintf(stderr, "note: %s\n", printable(note).c_str());
  }
  return write_result(common.json     ? to_text(ai::serving_json(report))
                      : arguments.csv ? ai::serving_csv(report)
                                      : ai::serving_text(report),
                      common);
}

void add_load_options(CLI::App& verb, ServingArguments& arguments) {
  add_basic(verb, "--rate", arguments.rates, "R,...", "Requests per second that come at random times, such as 2,5,10.");
  add_basic(verb, "--concurrency", arguments.clients, "N,...",
            "So many clients in the place of a rate. Each sends its next request when its last one has ended.");
  add_basic(verb, "--trace", arguments.trace, "FILE",
            "Requests of this file: CSV or lines of JSON, of Vidur, Azure, Mooncake, an engine's log or your own. With "
            "--rate or --concurrency its lengths alone.");
  add_basic(verb, "--prompt-tokens", arguments.shape.prompt_tokens, "N", "Tokens of a prompt in the mean.")
      ->check(CLI::Range(int64_t{1}, kMostTokens))
      ->capture_default_str();
  add_basic(verb, "--output-tokens", arguments.shape.output_tokens, "N", "Tokens of an answer in the mean.")
      ->check(CLI::Range(int64_t{1}, kMostTokens))
      ->capture_default_str();
  add_advanced(verb, "--spread", arguments.shape.log_spread, "S",
               "How much lengths differ: the standard deviation of their logarithms. 0: all alike. Real traces have "
               "about 1.")
      ->check(CLI::Range(0.0, 4.0))
      ->capture_default_str();
  add_advanced(verb, "--burst", arguments.shape.burst, "B",
               "How uneven arrivals are: 1 is at random (Poisson), 0 even, above 1 in bursts.")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  add_advanced(verb, "--turns", arguments.shape.turns, "N",
               "Turns of a conversation. The prompt of a turn holds what was said before it.")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->capture_default_str();
  takes_duration(add_advanced(verb, "--think-time", arguments.shape.think_s, "TIME",
                              "The time from the end of a turn to the next one. By default 0."),
                 true);
  add_advanced(verb, "--shared-prefix", arguments.shape.shared_tokens, "N",
               "Tokens that all prompts begin with, such as a system prompt.")
      ->check(CLI::Range(int64_t{0}, kMostTokens));
  add_advanced(
      verb, "--most-in-flight", arguments.in_flight, "N",
      "Clients send no more than so many requests at once; further ones wait there, and come when one has ended.")
      ->check(CLI::Range(int64_t{1}, kMostRequests));
  add_advanced(verb, "--requests", arguments.requests, "N",
               "How many requests come. By default as many as in 10 minutes, 1000 to 100000; of a trace all.")
      ->check(CLI::Range(int64_t{1}, kMostRequests));
}

void add_service_options(CLI::App& verb, ServingArguments& arguments) {
  add_basic(verb, "--replicas", arguments.replicas, "N", "Engines that share the load.")
      ->check(CLI::Range(int64_t{1}, int64_t{10000}))
      ->capture_default_str();
  add_advanced(verb, "--router", arguments.router, "NAME",
               "How requests find a replica: round-robin, least-loaded or prefix-aware.")
      ->capture_default_str();
  add_basic(verb, "--tensor-parallel", arguments.precision.tensor_parallel, "N", "Devices that share every layer.")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}))
      ->capture_default_str();
  add_advanced(verb, "--data-parallel", arguments.data_parallel, "N",
               "Engines of a replica. Those of a mixture of experts share its experts, and step together.")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}))
      ->capture_default_str();
  add_advanced(verb, "--expert-parallel", arguments.expert_parallel,
               "Each device holds whole experts, in the place of a part of each.");
  add_advanced(verb, "--pipeline-parallel", arguments.pipeline_parallel, "N",
               "Stages of a replica, each with a part of the layers.")
      ->check(CLI::Range(int64_t{1}, int64_t{1024}))
      ->capture_default_str();
  add_advanced(verb, "--prefill-replicas", arguments.prefill_replicas, "N",
               "So many replicas compute prompts alone and hand requests over to the others.")
      ->check(CLI::Range(int64_t{1}, int64_t{10000}));
  add_advanced(
      verb, "--transfer-rate", arguments.transfer_gb_per_s, "GB/S",
      "Gigabytes of keys and values that each device sends from there in a second. By default as fast as to its "
      "host.")
      ->check(CLI::Range(1e-3, 1e6));
  add_advanced(
      verb, "--speculative", arguments.speculative, "K,A[,T]",
      "Guesses K tokens of each sequence in a step. A is the share of guesses that are right, T the share of a "
      "step's time that a guess takes: by default one layer's.")
      ->take_all()
      ->allow_extra_args(false);
  add_advanced(verb, "--max-sequences", arguments.max_sequences, "N",
               "Sequences that an engine runs at once. By default 256.")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}));
  add_advanced(verb, "--step-tokens", arguments.step_tokens, "N",
               "Tokens of a step at the most. By default the engine's own for the device.")
      ->check(CLI::Range(int64_t{1}, kMostTokens));
  add_advanced(verb, "--cache-tokens", arguments.cache_tokens, "N",
               "Tokens that fit the cache of an engine. By default what its devices have room for.")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  add_advanced(verb, "--context-tokens", arguments.context_tokens, "N",
               "Longer requests are refused. By default what the cache holds.")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  add_advanced(verb, "--no-prefix-cache", arguments.no_prefix_cache, "Computes prefixes anew for each request.");
  add_advanced(verb, "--whole-prompts", arguments.whole_prompts,
               "Computes each prompt in one step of its own; sequences that generate wait meanwhile.");
  add_advanced(verb, "--receive-steps", arguments.receive_steps, "N",
               "A busy engine looks for new requests every so many steps (SGLang: --scheduler-recv-interval).")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str();
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
  add_advanced(*verb, "--system", arguments->system, "FILE",
               "In place of MODEL and --on: steps measured by perfcast bench serve --calibrate FILE.");
  add_load_options(*verb, *arguments);
  add_service_options(*verb, *arguments);
  add_engine_option(*verb, arguments->engine);
  add_host_option(*verb, arguments->engine);
  add_llm_precision_options(*verb, arguments->precision);
  add_advanced(*verb, "--request-times", arguments->request_times, "FILE",
               "Writes each request's times into this file (CSV).");
  add_advanced(*verb, "--events", arguments->events, "FILE",
               "Writes what each request did when, for ui.perfetto.dev (JSON).");
  add_basic(*verb, "--report", arguments->report, "FILE",
            "Writes a page (HTML): times against load, and how many requests run and wait.");
  add_advanced(*verb, "--csv", arguments->csv, "Prints one line of CSV for each device and load.");
  add_common_options(*verb, context, kQuietOption | kSeedOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_serving(context, *arguments); }; });
}

}  // namespace perfcast::cli
