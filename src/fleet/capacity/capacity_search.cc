#include "fleet/capacity/capacity_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "fleet/capacity/capacity_maximal.h"
#include "fleet/simulate/queueing.h"

namespace perfcast::fleet {
namespace {

constexpr size_t kMostMaximal = 20000;
constexpr double kLowestLoad = 1.0 / 256;  // nobody runs a cluster emptier than that
constexpr int64_t kMostSwap = 4;           // nodes given up for others at once

class PlanSearch {
 public:
  PlanSearch(PlanEvaluator& evaluator, const CapacitySizing& sizing, int64_t most_plans)
      : evaluator_(evaluator),
        sizing_(sizing),
        input_(sizing.input()),
        request_(evaluator.request()),
        factor_(evaluator.rate_factor()),
        plans_before_(evaluator.count().plans),
        most_plans_(most_plans) {
    for (const NodeGroup& candidate : input_.candidates) most_.push_back(candidate.nodes);
  }

  Result<SearchResult> run() {
    if (Status done = find_first(); !done) return done.error();
    if (!best_) {
      if (Status done = find_nearest(); !done) return done.error();
    }
    if (best_) {
      bool better = true;
      while (better && !spent()) {
        better = false;
        for (const auto step : {&PlanSearch::remove, &PlanSearch::exchange, &PlanSearch::sweep}) {
          const double before = best_value_;
          if (Status done = (this->*step)(); !done) return done.error();
          better = best_value_ < before;
          if (better) break;
        }
      }
      result_.complete = swept_ && !better;
    }
    result_.best = best_;
    return result_;
  }

 private:
  bool spent() const { return evaluator_.count().plans - plans_before_ >= most_plans_; }
  bool limited() const {
    return !std::isnan(input_.budget_per_hour) ||
           std::none_of(most_.begin(), most_.end(), [](int64_t nodes) { return nodes == kAnyNumber; });
  }
  bool allowed(const NodePlan& plan) const {
    for (size_t g = 0; g < plan.size(); ++g) {
      if (plan[g] < 0 || (most_[g] != kAnyNumber && plan[g] > most_[g])) return false;
    }
    return !(cost_per_hour(request_, plan) > input_.budget_per_hour * (1 + 1e-9));
  }
  double weight(const NodePlan& plan) const {
    double sum = 0;
    for (size_t g = 0; g < plan.size(); ++g) sum += static_cast<double>(plan[g]) * input_.weight[g];
    return sum;
  }
  bool lighter_than_best(double value) const { return !best_ || value < best_value_ * (1 - 1e-9); }

  // Takes the plan if it meets and is better than the best so far.
  Result<bool> attempt(const NodePlan& plan) {
    // The weight is the value itself, of power that of idle nodes: less than the value.
    if (!allowed(plan) || !lighter_than_best(weight(plan)) || failed_before(plan) || spent()) return false;
    const auto holds = evaluator_.holds(plan);
    if (!holds) return holds.error();
    if (!*holds) {
      std::erase_if(failed_, [&](const NodePlan& other) { return contains(plan, other); });
      failed_.push_back(plan);
      return false;
    }
    const auto value = evaluator_.value(plan);
    if (!value) return value.error();
    if (!lighter_than_best(*value)) return false;
    best_ = plan;
    best_value_ = *value;
    if (request_.progress) request_.progress({"search", evaluator_.count().simulations, best_value_});
    return true;
  }
  bool failed_before(const NodePlan& plan) const {
    return std::any_of(failed_.begin(), failed_.end(), [&](const NodePlan& other) { return contains(other, plan); });
  }

  // The cheapest plan of a fluid load. Nothing where limits are in the way.
  Result<std::optional<NodePlan>> sized(double rho) const {
    auto plan = sizing_.cheapest(rho, factor_);
    if (plan) return std::optional(std::move(plan->nodes));
    if (plan.error().kind == ErrorKind::kInfeasible) return std::optional<NodePlan>();
    return plan.error();
  }

  // Bisection on the fluid load for the highest at which the cheapest such plan meets.
  Status find_first() {
    double fails = 1, rho = queueing_load(request_, evaluator_.samples().front(), sizing_, factor_);
    auto lowest = sized(1);
    if (!lowest) return lowest.error();
    if (!*lowest) return {};
    if (auto done = attempt(**lowest); !done || *done) return done ? Status() : done.error();
    double meets = 0;
    for (double step = 0.85; meets == 0 && rho > kLowestLoad && !spent(); rho *= step, step *= 0.9) {
      auto plan = sized(rho);
      if (!plan) return plan.error();
      if (!*plan) return {};
      auto done = attempt(**plan);
      if (!done) return done.error();
      (*done ? meets : fails) = rho;
      if (*done) break;
    }
    while (meets > 0 && fails - meets > 0.004 * fails && !spent()) {
      const double middle = (meets + fails) / 2;
      auto plan = sized(middle);
      if (!plan) return plan.error();
      if (!*plan) break;
      if (**plan == *best_) {
        meets = middle;
        continue;
      }
      auto done = attempt(**plan);
      if (!done) return done.error();
      (*done ? meets : fails) = middle;
    }
    return {};
  }

  // The cheapest mix may never meet where a dearer platform does (deadlines): the strongest plans within the limits,
  // otherwise ever more nodes of each platform alone.
  Status find_nearest() {
    if (!limited()) return find_alone();
    const auto strongest = sizing_.strongest();
    if (!strongest) {
      if (strongest.error().kind != ErrorKind::kInfeasible) return strongest.error();
      result_.impossible = infeasible_error("budget-too-small",
                                            "no plan within the cost limit and the candidates' numbers holds every job",
                                            "the limits", "a higher cost limit per hour, or more nodes");
      return {};
    }
    result_.nearest = strongest->nodes;
    result_.overloaded = strongest->value <= factor_;
    if (result_.overloaded) return {};
    if (auto done = attempt(strongest->nodes); !done || *done) return done ? Status() : done.error();
    auto plans = within_limits();
    sort_by_load(plans.plans);
    auto least = evaluator_.shortfall_of(result_.nearest);
    if (!least) return least.error();
    for (const NodePlan& plan : plans.plans) {
      if (spent() || !(evaluator_.load(plan) < 1)) break;
      if (failed_before(plan)) continue;
      auto done = attempt(plan);
      if (!done) return done.error();
      if (*done) return {};
      auto off = evaluator_.shortfall_of(plan);
      if (!off) return off.error();
      if (*off < *least) {
        least = off;
        result_.nearest = plan;
      }
    }
    return {};
  }

  MaximalPlans within_limits() const {
    std::vector<double> prices;
    for (const NodeGroup& candidate : input_.candidates) {
      prices.push_back(std::isnan(input_.budget_per_hour) ? 0 : candidate.price_per_node_hour);
    }
    const double limit = std::isnan(input_.budget_per_hour) ? 0 : input_.budget_per_hour;
    return maximal_plans(prices, most_, limit, kMostMaximal);
  }

  Status find_alone() {
    for (size_t g = 0; g < most_.size(); ++g) {
      if (most_[g] != kAnyNumber) continue;
      // All of the limited ones, and of this one ever more.
      NodePlan plan = most_;
      std::replace(plan.begin(), plan.end(), kAnyNumber, int64_t{0});
      NodePlan alone(plan.size(), 0);
      for (int64_t nodes = 1; nodes <= int64_t{1} << 14 && !spent(); nodes *= 2) {
        alone[g] = plan[g] = nodes;
        if (!(evaluator_.load(plan) < 0.9)) continue;
        for (const NodePlan& candidate : {alone, plan}) {
          if (!(evaluator_.load(candidate) < 0.9)) continue;
          auto done = attempt(candidate);
          if (!done) return done.error();
          if (*done) return {};
        }
        if (evaluator_.load(plan) < 0.01) break;
      }
    }
    result_.impossible = infeasible_error("unreachable-objective",
                                          "no number of nodes of any candidate meets the objectives under this policy",
                                          "the objectives", "laxer objectives, other candidates, another policy");
    return {};
  }

  Status remove() {
    for (bool better = true; better && !spent();) {
      better = false;
      for (const size_t g : heaviest_first()) {
        for (int64_t step = std::max<int64_t>(1, (*best_)[g] / 8); step >= 1; step /= 2) {
          NodePlan plan = *best_;
          plan[g] -= step;
          auto done = attempt(plan);
          if (!done) return done.error();
          better = better || *done;
          if (*done) step = std::max<int64_t>(2, step * 2);  // as much once more
        }
      }
    }
    return {};
  }

  // A few nodes of one platform for as many of another as still are lighter.
  Status exchange() {
    for (const size_t g : heaviest_first()) {
      for (const size_t h : heaviest_first()) {
        for (int64_t given = 1; given <= kMostSwap && g != h && (*best_)[g] >= given; ++given) {
          NodePlan plan = *best_;
          plan[g] -= given;
          int64_t got = most_[h] == kAnyNumber ? kMostSwap * 4 : most_[h] - plan[h];
          if (input_.weight[h] > 0) {
            const double room = static_cast<double>(given) * input_.weight[g] / input_.weight[h];
            got = std::min(got, static_cast<int64_t>(std::ceil(room * (1 - 1e-9))) - 1);
          }
          if (got < 1) continue;
          plan[h] += got;
          auto done = attempt(plan);
          if (!done) return done.error();
          if (*done) return {};
        }
      }
    }
    return {};
  }

  // Every largest plan that is lighter than the best, the least loaded first: if none meets, nothing lighter does that
  // is part of one of them, and everything is.
  Status sweep() {
    if (request_.goal == CapacityGoal::kPower) return {};  // its value isn't the nodes' alone
    auto lighter = maximal_plans(input_.weight, most_, best_value_ * (1 - 2e-9), kMostMaximal);
    if (!lighter.all) return {};
    std::erase_if(lighter.plans, [&](const NodePlan& plan) { return failed_before(plan) || !allowed(plan); });
    const bool budget_bites = !std::isnan(input_.budget_per_hour) && request_.goal != CapacityGoal::kCost;
    sort_by_load(lighter.plans);
    for (const NodePlan& plan : lighter.plans) {
      if (!(evaluator_.load(plan) < 1)) break;
      if (spent()) return {};
      auto done = attempt(plan);
      if (!done) return done.error();
      if (*done) return {};
    }
    swept_ = !spent() && !budget_bites;
    return {};
  }

  std::vector<size_t> heaviest_first() const {
    std::vector<size_t> order;
    for (size_t g = 0; g < most_.size(); ++g) order.push_back(g);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return input_.weight[a] > input_.weight[b]; });
    return order;
  }
  void sort_by_load(std::vector<NodePlan>& plans) {
    std::vector<std::pair<double, NodePlan>> keyed;
    keyed.reserve(plans.size());
    for (NodePlan& plan : plans) keyed.emplace_back(evaluator_.load(plan), std::move(plan));
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < plans.size(); ++i) plans[i] = std::move(keyed[i].second);
  }

  PlanEvaluator& evaluator_;
  const CapacitySizing& sizing_;
  const SizingInput& input_;
  const CapacityRequest& request_;
  double factor_;
  int64_t plans_before_, most_plans_;
  std::vector<int64_t> most_;
  std::vector<NodePlan> failed_;  // none contains another
  std::optional<NodePlan> best_;
  double best_value_ = kUnknown;
  bool swept_ = false;
  SearchResult result_;
};

double squared_variation(std::span<const double> values) {
  if (values.size() < 2) return 1;
  const double average = mean(values), deviation = standard_deviation(values);
  return average > 0 ? deviation * deviation / (average * average) : 1;
}

}  // namespace

double queueing_load(const CapacityRequest& request, const Workload& sample, const CapacitySizing& sizing,
                     double rate_factor) {
  const auto times = candidate_times(sample, sizing.input().candidates);
  const size_t groups = sizing.input().candidates.size();
  std::vector<double> services, gaps;
  for (size_t i = 0; i < sample.size(); ++i) {
    double fastest_s = kUnknown;
    for (size_t g = 0; g < groups; ++g) fastest_s = std::fmin(fastest_s, times[i * groups + g]);
    if (!std::isnan(fastest_s)) services.push_back(fastest_s);
    if (i > 0) gaps.push_back(sample.jobs[i].arrival_s - sample.jobs[i - 1].arrival_s);
  }
  const double rate = sizing.input().arrivals_per_s * rate_factor, service_s = mean(services);
  const double arrival_scv = squared_variation(gaps), service_scv = squared_variation(services);
  for (int step = 1; step <= 44; ++step) {
    const double rho = 1 - 0.02 * step;
    const auto servers = static_cast<int64_t>(std::ceil(rate * service_s / rho));
    if (servers > 100000) return 0.9;
    const double wait_s = mean_wait_ggc_s(servers, rate, service_s, arrival_scv, service_scv);
    bool enough = true;
    for (const ServiceObjective& objective : request.objectives) {
      double value = wait_s;
      if (objective.metric == ServiceMetric::kDeadlineShare) continue;
      if (objective.metric == ServiceMetric::kP99Wait) {
        value = wait_quantile_mmc_s(servers, rate, service_s, 0.99) * (arrival_scv + service_scv) / 2;
      }
      if (objective.metric == ServiceMetric::kMeanBoundedSlowdown) value = 1 + wait_s / std::max(10.0, service_s);
      enough = enough && meets(objective, value);
    }
    if (enough) return rho;
  }
  return 0.1;
}

Result<SearchResult> search_plans(PlanEvaluator& evaluator, const CapacitySizing& sizing, int64_t most_plans) {
  return PlanSearch(evaluator, sizing, most_plans).run();
}

}  // namespace perfcast::fleet
