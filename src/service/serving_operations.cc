// Services of language models: llm/serve-sim, llm/capacity.

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "ai/load/load_objective.h"
#include "ai/serving/serving_loads.h"
#include "ai/serving/serving_report.h"
#include "ai/serving_plan/plan_load.h"
#include "ai/serving_plan/serving_plan_report.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/unknown.h"
#include "service/llm_fields.h"
#include "service/operation.h"

namespace perfcast::service {
namespace {

constexpr double kMostTokensOfRequest = 1 << 24, kMostRequests = 1'000'000, kMostReplicas = 10'000, kMostShared = 1024;
constexpr double kMostCacheTokens = 1e12, kMostInFlight = 10'000'000, kMostFactor = 1000;
constexpr size_t kMostLoads = 16, kMostDegrees = 11;

Field integer(const char* name, const char* meaning, double least, double most) {
  return {.name = name, .kind = FieldKind::kInteger, .meaning = meaning, .least = least, .most = most};
}
Field number(const char* name, const char* meaning, double least, double most, const char* unit = "") {
  return {.name = name, .kind = FieldKind::kNumber, .meaning = meaning, .unit = unit, .least = least, .most = most};
}
Field yes(const char* name, const char* meaning) { return {.name = name, .kind = FieldKind::kYes, .meaning = meaning}; }

std::vector<Field> load_fields() {
  return {{.name = "rate",
           .kind = FieldKind::kNumbers,
           .meaning = "Requests per second, at random times.",
           .unit = "1/s",
           .least = 1e-6,
           .most = 1e6,
           .most_items = kMostLoads},
          {.name = "concurrency",
           .kind = FieldKind::kIntegers,
           .meaning =
               "The number of clients, instead of a rate. Each client sends its next request when it has its answer.",
           .least = 1,
           .most = 1e6,
           .most_items = kMostLoads},
          {.name = "trace",
           .meaning = "Requests as text: CSV or lines of JSON, of Vidur, Azure, Mooncake, an engine's log or your own. "
                      "With rate or concurrency, only their lengths are used."},
          number("prompt_tokens", "The mean number of tokens of a prompt. Default: 1024.", 1, kMostTokensOfRequest),
          number("output_tokens", "The mean number of tokens of an answer. Default: 128.", 1, kMostTokensOfRequest),
          number("spread", "How much lengths differ: the standard deviation of their logarithms. Default: 0.", 0, 4),
          number("burst", "How uneven arrivals are: 1 is at random (default), 0 even, above 1 in bursts.", 0, 1000),
          integer("turns", "The number of turns of a conversation. Default: 1.", 1, 1000),
          number("think_time", "The time from the end of an answer to the next turn. Default: 0.", 0, 1e6, "s"),
          integer("shared_prefix", "The number of tokens with which all prompts begin. Default: 0.", 0,
                  kMostTokensOfRequest),
          integer("requests", "The number of requests. Default: what comes in 10 minutes.", 1, kMostRequests),
          integer("most_in_flight", "The most requests that clients have open at once. Default: no limit.", 1,
                  kMostInFlight),
          integer("seed", "The seed of everything that is drawn at random. Default: 1.", 0, 9e15)};
}

std::vector<Field> scheduler_fields() {
  return {
      {.name = "objective",
       .kind = FieldKind::kTexts,
       .meaning = "Limits, and the share of requests that must keep them, such as ttft=2s,tpot=200ms,share=99%."},
      {.name = "router",
       .meaning = "How requests find a replica. Default: least-loaded.",
       .choices = {"round-robin", "least-loaded", "prefix-aware"}},
      integer("max_sequences", "The most sequences that an engine runs at once. Default: 256.", 1, 1e6),
      integer("step_tokens", "The most tokens in one step. Default: the engine's own.", 1, kMostTokensOfRequest),
      integer("cache_tokens",
              "How many tokens the cache of an engine holds. Default: what fits in the memory of its devices.", 1,
              kMostCacheTokens),
      integer("context_tokens",
              "The longest request, prompt and answer; longer ones are refused. Default: what the cache holds.", 1,
              kMostCacheTokens),
      number("cache_reserve",
             "Share of the cache that must stay free when a request is let in beside others. Default: 0.", 0, 0.99),
      yes("no_prefix_cache", "Computes every prompt in full, even if another prompt began in the same way."),
      yes("whole_prompts", "Computes each prompt in one step of its own."),
      integer("receive_steps", "A busy engine looks for new requests once in so many steps. Default: 1.", 1, 1 << 20)};
}

std::vector<Field> all_of(std::initializer_list<std::vector<Field>> parts) {
  std::vector<Field> fields;
  for (const auto& part : parts) fields.insert(fields.end(), part.begin(), part.end());
  return fields;
}

// Of a service and its load, however it is built.
std::vector<Field> service_fields() {
  return all_of({model_fields(), engine_fields(), load_fields(), scheduler_fields()});
}

Status take_scheduler(const Request& request, ai::ServingRequestFor& service) {
  if (request.has("router")) {
    const auto router = ai::router_from(request.text("router"));
    if (!router) return router.error();
    service.router = *router;
  }
  for (const std::string& text : request.texts("objective")) {
    auto objective = ai::parse_load_objective(text, "objective");
    if (!objective) return objective.error();
    service.objectives.push_back(*std::move(objective));
  }
  service.max_sequences = request.integer("max_sequences");
  service.step_tokens = request.integer("step_tokens");
  service.cache_tokens = request.integer("cache_tokens");
  service.cache_reserve_share = request.number("cache_reserve").value_or(0);
  service.context_tokens = request.integer("context_tokens").value_or(0);
  service.prefix_cache = !request.yes("no_prefix_cache");
  service.chunked_prefill = !request.yes("whole_prompts");
  service.receive_steps = request.integer("receive_steps").value_or(1);
  return {};
}

// All but the loads.
Result<ai::ServingRequestFor> service_of(const Context& context, const Request& request, bool is_any_device) {
  ai::ServingRequestFor service;
  if (Status taken = take_scheduler(request, service); !taken) return taken.error();
  auto config = model_of(request);
  if (!config) return config.error();
  service.config = *std::move(config);
  ai::LlmWorkload formats;
  if (Status taken = ai::take_formats(service.config, formats_of(request), formats); !taken) return taken.error();
  service.formats.weights = formats.weights;
  service.formats.activations = formats.activations;
  service.formats.kv = formats.kv;
  service.formats.weight_bits_per_value = formats.weight_bits_per_value;
  const auto engine = engine_of(context, request);
  if (!engine) return engine.error();
  if (!engine->profile) return usage_error("bad-usage", "a service without an engine", "engine", "an engine");
  service.profile = engine->profile;
  const auto devices = devices_of(context, request, *engine, is_any_device);
  if (!devices) return devices.error();
  for (const ai::ForecastDevice& device : *devices) {
    service.devices.push_back({device.model->device(), device.terms.engine.host, device.terms.price_per_hour});
  }
  return service;
}

Result<ai::ServingLoads> loads_of(const Request& request, std::vector<std::string>& notes) {
  ai::AskedLoads asked;
  asked.rates_per_s = request.numbers("rate");
  asked.clients = request.integers("concurrency");
  asked.requests = request.integer("requests").value_or(0);
  asked.in_flight = request.integer("most_in_flight").value_or(0);
  asked.seed = static_cast<uint64_t>(request.integer("seed").value_or(1));
  ai::TraceShape& shape = asked.shape;
  shape.prompt_tokens = request.number("prompt_tokens").value_or(shape.prompt_tokens);
  shape.output_tokens = request.number("output_tokens").value_or(shape.output_tokens);
  shape.log_spread = request.number("spread").value_or(shape.log_spread);
  shape.burst = request.number("burst").value_or(shape.burst);
  shape.turns = request.integer("turns").value_or(shape.turns);
  shape.think_s = request.number("think_time").value_or(shape.think_s);
  shape.shared_tokens = request.integer("shared_prefix").value_or(shape.shared_tokens);
  if (static_cast<double>(shape.shared_tokens) > shape.prompt_tokens) {
    return usage_error("bad-usage", "a shared prefix that is longer than a prompt", "shared_prefix",
                       "at most prompt_tokens, " + csv_number(shape.prompt_tokens));
  }
  if (request.has("trace")) {
    auto read = ai::read_serving_trace(request.text("trace"), "trace");
    if (!read) return read.error();
    if (!read->has_arrivals && asked.rates_per_s.empty() && asked.clients.empty()) {
      return usage_error("bad-usage", "the trace has no times of arrival", "trace", "rate or concurrency with it");
    }
    asked.trace = std::move(read->trace);
    asked.trace_name = "the trace";
    for (const std::string& note : read->notes) notes.push_back("trace, " + read->form + ": " + note);
  }
  return ai::ServingLoads(std::move(asked));
}

Result<Answer> run_serving(const Context& context, const Request& request, const Watch& watch) {
  auto service = service_of(context, request, false);
  if (!service) return service.error();
  service->formats.tensor_parallel = request.integer("tensor_parallel").value_or(1);
  service->replicas = request.integer("replicas").value_or(1);
  service->prefill_replicas = request.integer("prefill_replicas").value_or(0);
  service->data_parallel = request.integer("data_parallel").value_or(1);
  service->pipeline_parallel = request.integer("pipeline_parallel").value_or(1);
  service->expert_parallel = request.yes("expert_parallel");
  service->balance_steps = request.integer("balance_steps").value_or(0);
  service->transfer_bytes_per_s = 1e9 * request.number("transfer_rate").value_or(kUnknown);
  service->draft_tokens = request.integer("draft_tokens").value_or(0);
  service->acceptance = request.number("acceptance").value_or(0);
  service->draft_share = request.number("draft_share");
  if (Status fits = ai::check_parallel(*service); !fits) return fits.error();
  std::vector<std::string> notes;
  const auto asked = loads_of(request, notes);
  if (!asked) return asked.error();
  auto loads = asked->all();
  if (!loads) return loads.error();
  service->loads = *std::move(loads);
  const size_t rows = service->loads.size() * service->devices.size();
  size_t done = 0;
  const ai::TakeRun take = [&](const ai::ServingRow&, const ai::ServingTrace&, const ai::ServeRun&) -> Status {
    watch.show(std::to_string(++done) + " of " + std::to_string(rows) + " services are simulated");
    if (watch.cancelled()) return interrupted_error("cancelled");
    return {};
  };
  if (watch.cancelled()) return interrupted_error("cancelled");
  auto result = ai::forecast_serving(*std::move(service), take);
  if (!result) return result.error();
  return Answer{compact_text(ai::serving_json(ai::report_serving(*std::move(result), std::move(notes))))};
}

Result<Answer> run_capacity(const Context& context, const Request& request, const Watch& watch) {
  auto service = service_of(context, request, true);
  if (!service) return service.error();
  ai::ServingPlanRequest plan;
  plan.service = *std::move(service);
  if (request.has("tensor_parallel")) {
    plan.tensor_parallel = request.integers("tensor_parallel");
    std::sort(plan.tensor_parallel.begin(), plan.tensor_parallel.end());
    const auto last = std::unique(plan.tensor_parallel.begin(), plan.tensor_parallel.end());
    plan.tensor_parallel.erase(last, plan.tensor_parallel.end());
    if (plan.tensor_parallel.empty()) {
      return usage_error("bad-usage", "no number of devices", "tensor_parallel", "numbers from 1 to 1024");
    }
  }
  const std::string goal = request.text("minimise", request.has("price") ? "cost" : "devices");
  plan.goal = goal == "cost" ? ai::PlanGoal::kCost : goal == "power" ? ai::PlanGoal::kPower : ai::PlanGoal::kDevices;
  plan.most_cost_per_hour = request.number("max_cost_per_hour");
  plan.most_devices = request.integer("at_most");
  plan.confidence = request.number("confidence");
  plan.growth = request.numbers("growth");
  std::vector<std::string> notes;
  const auto asked = loads_of(request, notes);
  if (!asked) return asked.error();
  auto load = ai::plan_load_of(*asked);
  if (!load) return load.error();
  plan.load = *std::move(load);
  if (plan.load.concurrency > 0 && plan.service.objectives.empty()) {
    return usage_error("bad-usage", "clients wait for whatever comes: one device is enough for any number", "objective",
                       "limits, such as ttft=1s,tpot=50ms,share=95%");
  }
  plan.progress = [&watch](const ai::PlanProgress& now) {
    watch.show(now.stage + ": " + std::to_string(now.simulations) + " simulations");
  };
  plan.is_cancelled = watch.is_cancelled;
  auto made = ai::plan_serving(std::move(plan));
  if (!made) return made.error();
  return Answer{compact_text(ai::serving_plan_json(ai::report_serving_plan(*std::move(made), std::move(notes))))};
}

}  // namespace

std::vector<Operation> serving_operations() {
  return {
      {.name = "llm/serve-sim",
       .summary = "Simulates a service of a language model under a load: its times, goodput and cost.",
       .answer = "perfcast.serving/1",
       .is_long = true,
       .fields = all_of(
           {service_fields(),
            {integer("tensor_parallel", "The number of devices that share every layer. Default: 1.", 1, kMostShared),
             integer("replicas", "The number of engines that share the load. Default: 1.", 1, kMostReplicas),
             integer("prefill_replicas", "The number of further replicas that compute only prompts. Default: 0.", 1,
                     kMostReplicas),
             integer("data_parallel", "The number of engines in a replica. Default: 1.", 1, kMostShared),
             integer("pipeline_parallel", "The number of stages in a replica. Default: 1.", 1, kMostShared),
             integer(
                 "balance_steps",
                 "With data_parallel: a prompt waits until each engine has one, but at most so many steps. Default: 0.",
                 0, 1 << 20),
             yes("expert_parallel", "Each device holds whole experts, not a part of each."),
             number("transfer_rate",
                    "How fast each of their devices sends keys and values. Default: the speed of the link to its host.",
                    1e-3, 1e6, "GB/s"),
             integer("draft_tokens",
                     "Speculative decoding: the number of tokens of each sequence that are guessed in a step.", 1, 64),
             number("acceptance", "With draft_tokens: the share of guesses that are right.", 0, 1),
             number("draft_share", "With draft_tokens: the share of a step's time that a guess takes.", 0, 1)}}),
       .run = run_serving},
      {.name = "llm/capacity",
       .summary = "Says how many of which device serve a load of a language model within its limits.",
       .answer = "perfcast.serving-plan/1",
       .is_long = true,
       .fields = all_of(
           {service_fields(),
            {{.name = "tensor_parallel",
              .kind = FieldKind::kIntegers,
              .meaning = "How many devices may share a replica's layers. Default: 1, 2, 4, 8.",
              .least = 1,
              .most = kMostShared,
              .most_items = kMostDegrees},
             {.name = "minimise",
              .meaning = "What the plan minimises. Default: cost, or devices if no price is given.",
              .choices = {"cost", "devices", "power"}},
             number("max_cost_per_hour", "The most that all devices may cost.", 0, 1e12, "USD/h"),
             integer("at_most", "Allows at most this many devices.", 1, 1e6),
             number("confidence", "The plan must hold in this share of the draws of the forecast's error.", 0.01, 0.99),
             {.name = "growth",
              .kind = FieldKind::kNumbers,
              .meaning = "Factors of the load to plan for, too.",
              .least = 1e-3,
              .most = kMostFactor,
              .most_items = kMostLoads}}}),
       .run = run_capacity}};
}

}  // namespace perfcast::service
