#pragma once
// How many nodes of each platform a load needs: the cheapest plan under which simulated jobs get the service asked for.
//
// A plan meets when it is stable (its fluid load is below 1, CapacitySizing) and all objectives hold together in at
// least nine of ten draws of the jobs. The search's own draws flatter the plan that was chosen by them: it is tried on
// others. Where it holds in too few of these, the cheapest one that does takes its place. Three layers, and what each
// may claim:
//   1. An integer program over fluid flows: no stable plan is cheaper. A proof, for the mix of the sampled jobs.
//   2. Allen and Cunneen's wait of a G/G/c queue: where the search starts. Excludes nothing.
//   3. Simulation, every plan on the same jobs (common random numbers): bisection on the fluid load, then removal and
//      exchange of nodes, then every largest plan that is cheaper than the best one. It takes for granted that a plan
//      which contains one that meets would meet too; `complete` says that on this ground nothing cheaper is left.
// The same request gives the same answer, as long as the demand and the perturbation do.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/capacity/capacity_objective.h"
#include "fleet/capacity/capacity_sizing.h"
#include "fleet/jobs/cluster.h"
#include "fleet/jobs/workload.h"
#include "fleet/policy/policy.h"
#include "fleet/policy/simulation_options.h"

namespace perfcast::fleet {

enum class CapacityGoal : uint8_t {
  kCost,   // price per hour of all nodes
  kPower,  // mean power in W, of idle nodes too
  kNodes,
};
const char* name_of(CapacityGoal goal);  // in JSON, with its unit: "cost_per_hour", "average_power_w", "nodes"

// Under how many of the seeds all objectives hold together. A seed is a draw of the jobs and of their true times.
enum class SeedRule : uint8_t {
  kMost,  // nine of ten
  kAll,
};
size_t seeds_needed(SeedRule rule, size_t seeds);

struct CapacityProgress {
  std::string stage;  // "search", "second best", "slack", "forecast error", "growth"
  int64_t simulations = 0;
  double best_value = kUnknown;  // of the goal; NaN: nothing meets yet
};

struct CapacityRequest {
  std::vector<NodeGroup> candidates;  // `nodes`: most that can be had, or kAnyNumber
  std::string currency;               // of prices and of the most cost per hour; empty: not said
  // Jobs that come `rate_factor` times as fast as today. The same seed must give the same jobs, whose gaps alone depend
  // on the factor. Has a column for every candidate.
  std::function<Result<Workload>(double rate_factor, uint64_t seed)> demand;
  double arrivals_per_s = kUnknown;  // today's mean; NaN: that of the samples
  std::vector<ServiceObjective> objectives;
  double budget_per_hour = kUnknown;  // the most that all nodes may cost per hour; NaN: none
  CapacityGoal goal = CapacityGoal::kCost;
  Policy policy = Policy::kMinimumCompletion;
  SimulationOptions simulation;
  std::vector<uint64_t> seeds = {1, 2, 3};
  SeedRule rule = SeedRule::kMost;
  // Draws besides, with seeds above those, that the plan is tried on once it is found. 0: none, as of a trace, of which
  // there is only one.
  size_t fresh_draws = 0;
  double warmup_share = 0.1;  // of each sample's jobs, the first ones, that don't count: queues start empty
  std::vector<double> growth = {1, 1.25, 1.5,
                                2};  // what if: rate factors, each planned anew without a limit of the cost per hour
  // Puts forecasts of such an error in the place of the demand's own; empty: no sensitivity.
  std::function<Status(Workload&, double error_ratio, uint64_t seed)> perturb;
  std::vector<double> errors = {0, 0.1, 0.2, 0.5, 1};
  bool second_best = true, slack = true;
  bool suggests_policies = true;  // a note where another policy may do with less
  // Simulated in the search for the plan; a quarter of them in that for each growth factor, and in that for a second
  // best without one of the plan's platforms.
  int64_t most_plans = 200;
  std::function<void(const CapacityProgress&)> progress;
};

// An objective's value over the seeds.
struct ServiceResult {
  ServiceObjective objective;
  double median = kUnknown, low = kUnknown, high = kUnknown;
  double kept = kUnknown;  // the value that as many seeds keep as the rule asks for
  bool meets = false;      // `kept` does
  // Room below the target (above it, of a share): (target - kept) / target of waits and slowdowns, kept - target of
  // shares.
  double slack = kUnknown;
  // Largest rate factor, to within 1%, at which it still holds on the same nodes; `rate_limit_is_floor`: it held at the
  // largest one that was tried. NaN: not asked for, or it doesn't hold at a tenth of the load.
  double rate_limit = kUnknown;
  bool rate_limit_is_floor = false;
};

struct PlanResult {
  NodePlan nodes;  // as CapacityAnswer::platforms
  bool meets = false;
  double value = kUnknown;  // of the goal
  double cost_per_hour = kUnknown;
  int64_t node_count = 0;
  double average_power_w = kUnknown;
  double fluid_load = kUnknown;      // of what the plan can carry at most
  size_t draws_held = 0, draws = 0;  // of the seeds: how many all objectives held in together
  std::vector<double> utilisation;   // [platforms] of cores, or GPUs (PlanMeasure), mean over the seeds
  std::vector<ServiceResult> service;
};

struct SensitivityRow {
  double error_ratio = 0;  // of the forecasts
  bool meets = false;
  std::vector<ServiceResult> service;
};

struct GrowthRow {
  double rate_factor = 1;
  double lower_bound = kUnknown;
  std::optional<PlanResult> plan;  // absent: none meets with the candidates' numbers
  bool within_budget = true;
  bool complete = false;
};

// What a policy needs; `value` of the goal, NaN: no plan found. Without `meets` it lies beyond the limits.
struct PolicyTried {
  Policy policy = Policy::kMinimumCompletion;
  bool meets = false;
  double value = kUnknown;
};

struct CapacityAnswer {
  std::vector<std::string> platforms;
  std::string currency;
  CapacityGoal goal = CapacityGoal::kCost;
  Policy policy = Policy::kMinimumCompletion;
  double arrivals_per_s = 0;
  double budget_per_hour = kUnknown;
  bool meets = false;  // false: `plan` is the best found within the limits, and what it reaches
  PlanResult plan;
  std::optional<PlanResult> second_best;  // also meets, on another set of platforms
  // Of the goal, for every stable plan with the candidates' numbers, whatever its cost per hour; with any number of
  // nodes where those can't carry the load.
  double lower_bound = kUnknown;
  NodePlan lower_bound_nodes;
  double gap_ratio = kUnknown;  // (value - lower bound) / lower bound
  bool complete = false;        // see above
  std::vector<SensitivityRow> sensitivity;
  std::vector<GrowthRow> growth;
  int64_t simulations = 0, plans = 0;
  size_t fresh_held = 0, fresh_draws = 0;  // the same of the last fresh draws
  // Where `plan` does not meet: the cheapest one found that would, with any number of nodes and no limit of the cost
  // per hour.
  std::optional<PlanResult> would_meet;
  std::vector<PolicyTried> policies;  // that the policy was chosen from; plan_capacity() leaves it empty
  std::vector<std::string> notes;     // for people
};

// "no-candidate", "bad-cluster", "bad-request", "no-price", "no-power", "too-many-groups", "missing-platform",
// "bad-demand", "no-candidate-fits" (a job that no candidate holds), check_objectives' errors, "unreachable-objective"
// (no number of nodes is enough), "budget-too-small" (the most cost per hour, for any plan that holds every job), and
// those of the demand, the perturbation and the simulator.
Result<CapacityAnswer> plan_capacity(const CapacityRequest& request);

}  // namespace perfcast::fleet
