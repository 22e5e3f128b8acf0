#include "fleet/capacity/capacity_evaluator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/statistics.h"
#include "fleet/simulate/simulator.h"

namespace perfcast::fleet {

Cluster cluster_of(const CapacityRequest& request, const NodePlan& plan) {
  Cluster cluster{{}, request.currency};
  for (size_t g = 0; g < plan.size(); ++g) {
    if (plan[g] == 0) continue;
    cluster.groups.push_back(request.candidates[g]);
    cluster.groups.back().nodes = plan[g];
  }
  return cluster;
}

double cost_per_hour(const CapacityRequest& request, const NodePlan& plan) {
  double cost = 0;
  for (size_t g = 0; g < plan.size(); ++g) {
    if (plan[g] > 0) cost += static_cast<double>(plan[g]) * request.candidates[g].price_per_node_hour;
  }
  return cost;
}

int64_t node_count(const NodePlan& plan) { return std::accumulate(plan.begin(), plan.end(), int64_t{0}); }

double PlanEvaluator::load(const NodePlan& plan) {
  auto [at, is_new] = loads_.try_emplace(plan, 0.0);
  if (is_new) at->second = rate_factor_ * sizing_.load(plan);
  return at->second;
}

PlanEvaluator::Record& PlanEvaluator::record(const NodePlan& plan) {
  auto [at, is_new] = records_.try_emplace(plan);
  if (is_new) ++count_.plans;
  return at->second;
}

Status PlanEvaluator::simulate_next(const NodePlan& plan, Record& record) {
  const Workload& sample = samples_[record.measures.size()];
  const Cluster cluster = cluster_of(request_, plan);
  ++count_.simulations;
  auto outcome = simulate(cluster, sample, request_.policy, request_.simulation);
  if (!outcome) return outcome.error();
  record.measures.push_back(measure_plan(cluster, sample, *outcome, request_.warmup_share));
  return {};
}

namespace {

// The value that the best `needed` of these keep; unknown where one of them is.
double kept_value(const ServiceObjective& objective, std::vector<double> values, size_t needed) {
  const bool at_least = info(objective.metric).at_least;
  std::sort(values.begin(), values.end(), [at_least](double a, double b) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);  // unknown ones are the worst
    return at_least ? a > b : a < b;
  });
  return values[std::min(needed, values.size()) - 1];
}

}  // namespace

std::vector<ServiceResult> PlanEvaluator::service(const Record& record) const {
  std::vector<ServiceResult> results;
  const size_t needed = seeds_needed(request_.rule, record.measures.size());
  for (const ServiceObjective& objective : request_.objectives) {
    ServiceResult result;
    result.objective = objective;
    std::vector<double> values;
    bool any_impossible = false;
    for (const PlanMeasure& measure : record.measures) {
      values.push_back(measure.value(objective.metric));
      any_impossible = any_impossible || measure.impossible > 0;
    }
    result.low = *std::min_element(values.begin(), values.end());
    result.high = *std::max_element(values.begin(), values.end());
    result.median = median(values);
    result.kept = kept_value(objective, values, needed);
    result.meets = !any_impossible && meets(objective, result.kept);
    if (info(objective.metric).at_least) {
      result.slack = result.kept - objective.target;
    } else if (objective.target > 0) {
      result.slack = (objective.target - result.kept) / objective.target;
    }
    results.push_back(result);
  }
  return results;
}

size_t PlanEvaluator::draws_held(const Record& record) const {
  return static_cast<size_t>(
      std::count_if(record.measures.begin(), record.measures.end(), [this](const PlanMeasure& measure) {
        return measure.impossible == 0 && std::all_of(request_.objectives.begin(), request_.objectives.end(),
                                                      [&measure](const ServiceObjective& objective) {
                                                        return meets(objective, measure.value(objective.metric));
                                                      });
      }));
}

// Nothing where the seeds still to come could turn it.
std::optional<bool> PlanEvaluator::decided(const Record& record) const {
  const size_t needed = seeds_needed(request_.rule, samples_.size()), held = draws_held(record);
  for (const PlanMeasure& measure : record.measures) {
    if (measure.impossible > 0) return false;
  }
  if (held >= needed) return true;
  if (held + samples_.size() - record.measures.size() < needed) return false;
  return std::nullopt;
}

Result<bool> PlanEvaluator::holds(const NodePlan& plan) {
  if (node_count(plan) == 0 || !(load(plan) < 1)) return false;
  Record& known = record(plan);
  while (!known.holds) {
    if (Status done = simulate_next(plan, known); !done) return done.error();
    known.holds = decided(known);
  }
  return *known.holds;
}

Result<double> PlanEvaluator::shortfall_of(const NodePlan& plan) {
  Record& known = record(plan);
  if (known.measures.empty()) {
    if (Status done = simulate_next(plan, known); !done) return done.error();
  }
  double sum = 0;
  for (const ServiceResult& result : service(known)) sum += shortfall(result.objective, result.kept);
  for (const PlanMeasure& measure : known.measures) sum += static_cast<double>(measure.impossible);
  return sum;
}

Result<double> PlanEvaluator::value(const NodePlan& plan) {
  if (request_.goal == CapacityGoal::kNodes) return static_cast<double>(node_count(plan));
  if (request_.goal == CapacityGoal::kCost) return cost_per_hour(request_, plan);
  const auto whole = result(plan);
  if (!whole) return whole.error();
  return whole->average_power_w;
}

Result<PlanResult> PlanEvaluator::result(const NodePlan& plan) {
  Record& known = record(plan);
  while (known.measures.size() < samples_.size()) {
    if (Status done = simulate_next(plan, known); !done) return done.error();
  }
  PlanResult result;
  result.nodes = plan;
  result.node_count = node_count(plan);
  result.cost_per_hour = cost_per_hour(request_, plan);
  result.fluid_load = load(plan);
  result.service = service(known);
  result.draws = known.measures.size();
  result.draws_held = draws_held(known);
  const bool any_impossible = std::any_of(known.measures.begin(), known.measures.end(),
                                          [](const PlanMeasure& measure) { return measure.impossible > 0; });
  result.meets =
      result.fluid_load < 1 && !any_impossible && result.draws_held >= seeds_needed(request_.rule, result.draws);
  std::vector<double> power_w;
  result.utilisation.assign(plan.size(), kUnknown);
  for (size_t g = 0, group = 0; g < plan.size(); ++g) {
    if (plan[g] == 0) continue;
    std::vector<double> shares;
    for (const PlanMeasure& measure : known.measures) shares.push_back(measure.utilisation[group]);
    result.utilisation[g] = mean(shares);
    ++group;
  }
  for (const PlanMeasure& measure : known.measures) power_w.push_back(measure.average_power_w);
  result.average_power_w = median(power_w);
  if (request_.goal == CapacityGoal::kNodes) result.value = static_cast<double>(result.node_count);
  if (request_.goal == CapacityGoal::kCost) result.value = result.cost_per_hour;
  if (request_.goal == CapacityGoal::kPower) result.value = result.average_power_w;
  return result;
}

std::vector<NodePlan> PlanEvaluator::known_to_hold() const {
  std::vector<NodePlan> plans;
  for (const auto& [plan, record] : records_) {
    if (record.holds.value_or(false)) plans.push_back(plan);
  }
  return plans;
}

}  // namespace perfcast::fleet
