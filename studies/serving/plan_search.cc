// Plans of `perfcast capacity --llm` beside the best of all services that were tried one by one:
// `perfcast_serving_plan_search [--json]`. Every GPU of the catalogue, 1, 2, 4 or 8 of them in a replica, and every
// number of replicas up to the first that is enough. Prices are invented: 1 USD an hour for each TB/s of memory speed,
// which makes many devices nearly as dear.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "ai/engine/engine_bundle.h"
#include "ai/latency/model/device_catalogue.h"
#include "ai/llm/model_catalogue.h"
#include "ai/serving/drawn_trace.h"
#include "ai/serving_plan/service_trials.h"
#include "ai/serving_plan/serving_plan.h"
#include "studies/output.h"

namespace perfcast::ai::plan_study {
namespace {

using Clock = std::chrono::steady_clock;

struct Scenario {
  const char *name, *model;
  double rate_per_s, prompt_tokens, output_tokens, log_spread;
  const char* objective;
  PlanGoal goal;
};
constexpr Scenario kScenarios[] = {
    {"8B, 5/s", "llama3-8b", 5, 1024, 128, 0.5, "ttft=1s,tpot=50ms,share=95%", PlanGoal::kCost},
    {"8B, 20/s", "llama3-8b", 20, 1024, 128, 0.5, "ttft=1s,tpot=50ms,share=95%", PlanGoal::kCost},
    {"8B, 20/s, power", "llama3-8b", 20, 1024, 128, 0.5, "ttft=1s,tpot=50ms,share=95%", PlanGoal::kPower},
    {"70B, 4/s", "llama3-70b", 4, 1024, 256, 0.5, "ttft=2s,tpot=100ms,share=95%", PlanGoal::kCost},
    {"8B, 100/s", "llama3-8b", 100, 512, 64, 1, "ttft=2s,tpot=100ms,share=95%", PlanGoal::kCost},
};

struct Compared {
  std::string scenario;
  double planned = kUnknown, best = kUnknown;  // by the goal
  std::string planned_words = {}, best_words = {};
  int64_t plan_simulations = 0, all_simulations = 0;
  double plan_s = 0, all_s = 0;
};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::string words_of(const ServingPlanRequest& request, const ServiceKind& kind, int64_t replicas) {
  return fmt::format("{} of {} x {}", replicas, kind.tensor_parallel, request.service.devices[kind.device].facts.name);
}

// The number of devices is what a device's value grows with: beyond the best one there is nothing to find.
Status try_all(const ServingPlanRequest& request, Compared& compared) {
  ServiceTrials trials(request);
  const auto begin = Clock::now();
  for (size_t device = 0; device < request.service.devices.size(); ++device) {
    for (const int64_t degree : request.tensor_parallel) {
      const ServiceKind kind{device, degree};
      const auto alone = trials.alone(kind, {});
      if (!alone) return alone.error();
      if (!alone->problem.empty()) continue;
      for (int64_t replicas = 1;; ++replicas) {
        PlannedService service{.device = device, .tensor_parallel = degree, .replicas = replicas};
        const ServingDevice& facts = request.service.devices[device];
        service.cost_per_hour = facts.price_per_hour * static_cast<double>(service.devices());
        service.power_w = facts.facts.power_w * static_cast<double>(service.devices());
        const double value = value_of(request.goal, service);
        if (std::isnan(value) || value >= compared.best) break;
        const auto trial = trials.run(kind, replicas, {}, TrialExtent::kWhole);
        if (!trial) return trial.error();
        if (!trial->holds) {
          // The planner's own may stand for the best where nothing cheaper was found.
          if (std::isnan(compared.best) && value > 2 * compared.planned) break;
          continue;
        }
        compared.best = value;
        compared.best_words = words_of(request, kind, replicas);
        break;
      }
    }
  }
  compared.all_s = seconds_since(begin);
  compared.all_simulations = trials.simulations();
  return {};
}

Result<Compared> compare(const Scenario& scenario, const DeviceCatalogue& catalogue,
                         const std::shared_ptr<const EngineProfile>& profile) {
  ServingPlanRequest request;
  const auto config = built_in_model(scenario.model);
  if (!config) return Error{"no-model", scenario.model, "", ""};
  request.service.config = *config;
  request.service.profile = profile;
  const auto objective = parse_load_objective(scenario.objective, "");
  if (!objective) return objective.error();
  request.service.objectives = {*objective};
  for (const DeviceFacts& device : catalogue.devices) {
    if (device.kind == DeviceKind::kGpu) {
      request.service.devices.push_back({device, {}, device.memory_bytes_per_s / 1e12});
    }
  }
  request.goal = scenario.goal;
  request.load.rate_per_s = scenario.rate_per_s;
  request.load.words = scenario.name;
  request.load.trace = [scenario](double factor, int64_t requests) {
    return draw_trace({.requests = requests,
                       .prompt_tokens = scenario.prompt_tokens,
                       .output_tokens = scenario.output_tokens,
                       .log_spread = scenario.log_spread,
                       .rate_per_s = factor * scenario.rate_per_s});
  };
  Compared compared{.scenario = scenario.name};
  const auto begin = Clock::now();
  const auto plan = plan_serving(request);
  if (!plan) return plan.error();
  compared.plan_s = seconds_since(begin);
  compared.plan_simulations = plan->simulations;
  const PlannedService& best = plan->services.front();
  compared.planned = value_of(request.goal, best);
  compared.planned_words = words_of(request, {best.device, best.tensor_parallel}, best.replicas);
  if (Status done = try_all(request, compared); !done) return done.error();
  return compared;
}

ReportTable table_of_all(const std::vector<Compared>& all) {
  using enum Quantity;
  using Row = Compared;
  return table_of<Row>(
      "", all,
      {{"scenario", "load", kText, [](const Row& row) { return row.scenario; }},
       {"plan", "plan", kText, [](const Row& row) { return row.planned_words; }},
       {"plan_value", "its value", kNumber, [](const Row& row) { return row.planned; }},
       {"best", "best of all", kText, [](const Row& row) { return row.best_words; }},
       {"best_value", "its value", kNumber, [](const Row& row) { return row.best; }},
       {"above_ratio", "above it", kShare, [](const Row& row) { return row.planned / row.best - 1; }, 1},
       {"plan_simulations", "simulations", kCount, [](const Row& row) { return row.plan_simulations; }},
       {"plan_s", "time", kDuration, [](const Row& row) { return row.plan_s; }},
       {"all_simulations", "of all", kCount, [](const Row& row) { return row.all_simulations; }},
       {"all_s", "time of all", kDuration, [](const Row& row) { return row.all_s; }}});
}

Status study(bool as_json) {
  const auto devices = read_device_catalogue(PERFCAST_SOURCE_DIR "/data/devices/devices.json");
  if (!devices) return devices.error();
  const auto bundle = read_engine_bundle(PERFCAST_SOURCE_DIR "/data/bundles/engines.json");
  if (!bundle) return bundle.error();
  const auto profile = bundle->find(kDefaultEngine);
  if (!profile) return profile.error();
  const auto shared = std::make_shared<const EngineProfile>(**profile);
  StudyOutput output("serving-plans", as_json);
  std::vector<Compared> all;
  for (const Scenario& scenario : kScenarios) {
    auto compared = compare(scenario, *devices, shared);
    if (!compared) return compared.error();
    all.push_back(*std::move(compared));
  }
  output.add("plans", table_of_all(all));
  output.finish();
  return {};
}

}  // namespace
}  // namespace perfcast::ai::plan_study

int main(int argc, char** argv) try {
  bool as_json = false;
  CLI::App app("Compares plans of services with the best of all that were tried one by one");
  app.add_flag("--json", as_json, "for programs");
  CLI11_PARSE(app, argc, argv);
  const perfcast::Status done = perfcast::ai::plan_study::study(as_json);
  if (!done) fmt::print(stderr, "{}\n", perfcast::to_text(done.error()));
  return done ? 0 : 1;
} catch (const std::exception& error) {
  std::fputs(error.what(), stderr);
  return 1;
}
