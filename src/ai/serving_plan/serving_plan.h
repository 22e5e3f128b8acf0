#pragma once
// Use case: how many of which device serve a load under its objectives, at least cost.
//
// A plan is one kind of device: replicas, each of as many devices as share the model, behind a router. Every number of
// replicas that is told to be enough was simulated (llm serve-sim). Of more than 8 replicas, 8 are simulated with their
// share of the load; the plan that is chosen, and those near to it in value, are then simulated whole, up to 300.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ai/serving/serving_forecast.h"
#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai {

// A load that can be made larger and smaller.
struct PlanLoad {
  double rate_per_s = kUnknown;  // requests that come each second, in the mean; NaN of a closed loop
  int64_t concurrency = 0;       // clients of a closed loop; 0: open
  int64_t most_in_flight = 0;    // of an open one, as ServeOptions has it
  std::string words = {};        // "20 requests/s"
  // How many requests a simulation has: a number that was asked for, else by the load.
  std::optional<int64_t> requests = {};
  bool is_recorded = false;  // requests at their own times: all of them count
  // So many times the load; of a closed loop its lengths. At the most so many requests, where it isn't recorded.
  std::function<ServingTrace(double factor, int64_t requests)> trace;
};

// Requests at their own times, so many times as dense: above 1 they come faster; below 1, each conversation is kept
// with that chance, drawn by the seed.
ServingTrace scaled_trace(const ServingTrace& trace, double factor, uint64_t seed);

enum class PlanGoal : uint8_t { kCost, kDevices, kPower };
std::string_view name_of(PlanGoal goal);  // "cost"

// Of the load: by 0.2 each "month".
struct PlanGrowthRate {
  double ratio = 0;
  std::string period;
};

struct PlanProgress {
  std::string stage;
  int64_t simulations = 0;
};

struct ServingPlanRequest {
  ServingRequestFor service;  // its devices are those to choose from; its loads aren't used
  PlanLoad load;
  std::vector<int64_t> tensor_parallel = {1, 2, 4, 8};  // devices of a replica: any of these
  PlanGoal goal = PlanGoal::kCost;
  std::optional<double> most_cost_per_hour;
  std::optional<int64_t> most_devices;
  // The share of the draws of the forecast's error that the plan must hold in; none: it holds at the forecast.
  std::optional<double> confidence;
  std::vector<double> growth;  // factors of the load to plan for
  std::optional<PlanGrowthRate> growth_rate;
  std::function<void(const PlanProgress&)> progress;
  std::function<bool()> is_cancelled;  // asked before each simulation: "interrupted"; empty: never
};

// The least service of one device that is enough.
struct PlannedService {
  size_t device = 0;  // of the request
  // Why there is none: "no-memory", "too-long", "unknown-fact", "objectives" (missed by requests that are alone),
  // "too-many" (devices). `row` is then what was tried last, if anything was simulated.
  std::string code = {}, problem = {};
  int64_t tensor_parallel = 0;
  int64_t replicas = 0, simulated_replicas = 0;
  double cost_per_hour = kUnknown;        // of all devices, in US dollars
  double power_w = kUnknown;              // of all boards, by their sheets
  double output_tokens_per_s = kUnknown;  // of a load at a rate, that of the load; else what was simulated
  bool within_limits = true;
  ServingRow row = {};  // its forecast, as simulated

  bool holds() const { return code.empty(); }
  int64_t devices() const { return tensor_parallel * replicas; }
};

// How much of the load a service carries.
struct LoadLimit {
  double factor = 1;       // of the load, within 1%; 0: no part that was tried
  bool is_floor = false;   // nothing broke up to this one
  ServingRow beyond = {};  // the least load that was too much
};

struct PlanGrowth {
  double load_factor = 1;
  PlannedService service;  // replicas of the plan's kind
};

// Draws of the forecast's error are spread evenly over its distribution: draw i of n is at the probability (i - 1/2)/n.
// One error of all times of the engine, as between the ends of its interval.
struct PlanSureness {
  static constexpr int64_t kDraws = 100, kEnough = 90;
  int64_t held = 0;                    // of kDraws
  std::optional<PlannedService> sure;  // where fewer than kEnough: the best service that holds in kEnough
};

struct ServingPlan {
  ServingPlanRequest request;
  int64_t parameters = 0;
  std::vector<PlannedService> services;  // of each device: within limits first, the best first; then those without any
  // Of the first one; absent where there is no plan.
  std::optional<LoadLimit> headroom;
  std::optional<PlanSureness> sureness;
  std::vector<PlanGrowth> growth;
  // Where limits forbid every service: what the most that they allow of the first one's kind comes to.
  std::optional<PlannedService> most_allowed;
  int64_t simulations = 0;

  bool has_plan() const { return services.front().holds() && services.front().within_limits; }
};

// What the goal counts; NaN: not known.
double value_of(PlanGoal goal, const PlannedService& service);

// Errors: of kind kInfeasible where no device holds the model ("no-memory") or any of the requests ("too-long"), or
// where none is fit for the goal: "no-price", "no-power"; "unknown-fact" where no device has the facts; those of
// forecast_serving(). That no service keeps the objectives, or none within the limits, is no error.
Result<ServingPlan> plan_serving(ServingPlanRequest request);

}  // namespace perfcast::ai
