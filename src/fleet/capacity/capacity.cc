#include "fleet/capacity/capacity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "fleet/capacity/capacity_draws.h"
#include "fleet/capacity/capacity_evaluator.h"
#include "fleet/capacity/capacity_request.h"
#include "fleet/capacity/capacity_search.h"

namespace perfcast::fleet {
namespace {

constexpr double kMostGrowth = 8, kLeastGrowth = 0.1;  // rate factors that slack is looked for between
constexpr double kGrowthStep = 0.01;

std::set<size_t> composition(const NodePlan& plan) {
  std::set<size_t> used;
  for (size_t g = 0; g < plan.size(); ++g) {
    if (plan[g] > 0) used.insert(g);
  }
  return used;
}

class Planner {
 public:
  Planner(const CapacityRequest& request, std::vector<Workload> samples, const SizingInput& input)
      : request_(request), samples_(std::move(samples)), input_(input), unlimited_(input) {}

  Result<CapacityAnswer> run() {
    PlanEvaluator evaluator(request_, samples_, unlimited_, 1, count_);
    for (const auto step : {&Planner::bound, &Planner::plan, &Planner::second_best, &Planner::try_elsewhere,
                            &Planner::would_meet, &Planner::slack}) {
      if (Status done = (this->*step)(evaluator); !done) return done.error();
    }
    if (Status done = sensitivity(); !done) return done.error();
    if (Status done = growth(); !done) return done.error();
    describe();
    return std::move(answer_);
  }

 private:
  void tell(const char* stage) const {
    if (request_.progress) request_.progress({stage, count_.simulations, answer_.plan.value});
  }
  int64_t fewer_plans() const { return (request_.most_plans + 3) / 4; }
  CapacitySizing limited() const {
    SizingInput input = input_;
    input.budget_per_hour = request_.budget_per_hour;
    return CapacitySizing(std::move(input));
  }

  Status bound(PlanEvaluator&) {
    auto lower = unlimited_.cheapest(1, 1);
    if (!lower && lower.error().kind == ErrorKind::kInfeasible) {
      SizingInput endless = input_;
      for (NodeGroup& candidate : endless.candidates) candidate.nodes = candidate.nodes == 0 ? 0 : kAnyNumber;
      lower = CapacitySizing(std::move(endless)).cheapest(1, 1);
    }
    if (!lower) return lower.error();
    answer_.lower_bound = lower->value;
    answer_.lower_bound_nodes = lower->nodes;
    if (!lower->proven) {
      answer_.notes.push_back("the lower bound is that of the relaxed program, and its plan is rounded");
    }
    return {};
  }

  Status plan(PlanEvaluator& evaluator) {
    tell("search");
    auto found = search_plans(evaluator, limited(), request_.most_plans);
    if (!found) return found.error();
    if (found->impossible) return why_impossible(evaluator, *found->impossible);
    if (!found->best) {
      if (Status done = without_each(evaluator, input_.candidates, request_.budget_per_hour, *found); !done)
        return done.error();
    }
    auto whole = evaluator.result(found->best ? *found->best : found->nearest);
    if (!whole) return whole.error();
    answer_.plan = std::move(*whole);
    answer_.meets = found->best.has_value();
    answer_.plan.meets = answer_.meets;
    answer_.complete = found->complete;
    if (found->overloaded) {
      answer_.notes.push_back(fmt::format(
          "no plan within the limits carries the load: the strongest one is loaded to {:.2f}, and its queues "
          "grow without end{}",
          answer_.plan.fluid_load,
          meets_all(answer_.plan)
              ? "; the jobs given meet the objectives because they are few: taken as a stream that goes "
                "on at their mean rate, they would not"
              : ""));
    } else if (!answer_.meets) {
      answer_.notes.push_back(fmt::format(
          "no plan found within the limits meets the objectives{}: this one comes nearest",
          answer_.plan.draws > 1
              ? fmt::format(" in {} of {} draws", seeds_needed(request_.rule, answer_.plan.draws), answer_.plan.draws)
              : ""));
    }
    return {};
  }
  // Where only the cost limit is in the way, with the plan that would meet.
  Error why_impossible(PlanEvaluator& evaluator, Error error) {
    if (error.code != "budget-too-small") return error;
    if (Status done = would_meet(evaluator); !done) return done.error();
    if (!answer_.would_meet) return error;
    error.expected += "; without limits " + join(plan_parts(answer_.would_meet->nodes), " + ") + " would meet";
    if (const double cost = answer_.would_meet->cost_per_hour; !std::isnan(cost)) {
      error.expected += fmt::format(", {:.{}f}{}{} an hour", cost, cost < 1 ? 3 : 2,
                                    request_.currency.empty() ? "" : " ", printable(request_.currency));
    }
    return error;
  }
  std::vector<std::string> plan_parts(const NodePlan& plan) const {
    std::vector<std::string> parts;
    for (size_t g = 0; g < plan.size(); ++g) {
      if (plan[g] > 0) parts.push_back(fmt::format("{} x {}", plan[g], printable(request_.candidates[g].platform)));
    }
    return parts;
  }
  static bool meets_all(const PlanResult& plan) {
    return std::all_of(plan.service.begin(), plan.service.end(), [](const ServiceResult& one) { return one.meets; });
  }

  // More nodes aren't always better: where jobs wait for the fast platform on purpose, plans without it may meet what
  // no plan with it does.
  Status without_each(PlanEvaluator& evaluator, const std::vector<NodeGroup>& candidates, double budget_per_hour,
                      SearchResult& found) {
    for (size_t g = 0; g < candidates.size(); ++g) {
      SizingInput input = input_;
      input.candidates = candidates;
      input.budget_per_hour = budget_per_hour;
      input.candidates[g].nodes = 0;
      if (candidates[g].nodes == 0 || composition(available(input)).empty()) continue;
      auto part = search_plans(evaluator, CapacitySizing(std::move(input)), fewer_plans());
      if (!part) return part.error();
      if (!part->best) continue;
      const auto value = evaluator.value(*part->best);
      const auto least = found.best ? evaluator.value(*found.best) : Result<double>(kUnknown);
      if (!value || !least) return value ? least.error() : value.error();
      if (*value >= *least) continue;
      found.best = part->best;
      found.complete = false;
      found.overloaded = false;
    }
    return {};
  }

  // The cheapest plan without one of the platforms of the plan, or with others that the search came upon.
  Status second_best(PlanEvaluator& evaluator) {
    if (!answer_.meets || !request_.second_best) return {};
    tell("second best");
    std::vector<NodePlan> plans = evaluator.known_to_hold();
    for (const size_t g : composition(answer_.plan.nodes)) {
      SizingInput input = input_;
      input.budget_per_hour = request_.budget_per_hour;
      input.candidates[g].nodes = 0;
      if (composition(available(input)).empty()) continue;
      auto found = search_plans(evaluator, CapacitySizing(std::move(input)), fewer_plans());
      if (!found) return found.error();
      if (found->best) plans.push_back(*found->best);
    }
    double least = kUnknown;
    for (const NodePlan& other : plans) {
      if (composition(other) == composition(answer_.plan.nodes)) continue;
      if (cost_per_hour(request_, other) > request_.budget_per_hour * (1 + 1e-9)) continue;
      auto result = evaluator.result(other);
      if (!result) return result.error();
      if (!result->meets || result->value >= least) continue;
      least = result->value;
      answer_.second_best = std::move(*result);
    }
    if (least < answer_.plan.value) std::swap(answer_.plan, *answer_.second_best);  // the first search was cut short
    return {};
  }
  static NodePlan available(const SizingInput& input) {
    NodePlan plan;
    for (const NodeGroup& candidate : input.candidates) plan.push_back(candidate.nodes == 0 ? 0 : 1);
    return plan;
  }

  Result<PlanResult> at_rate(double factor) {
    auto samples = draw_samples(request_, factor);
    if (!samples) return samples.error();
    return PlanEvaluator(request_, *samples, unlimited_, factor, count_).result(answer_.plan.nodes);
  }

  // The search takes what its own draws like best: of the plans that it came upon the cheapest that others like, too.
  Status try_elsewhere(PlanEvaluator& evaluator) {
    if (!answer_.meets || request_.fresh_draws == 0) return {};
    tell("fresh draws");
    SizingInput limits = input_;
    limits.budget_per_hour = request_.budget_per_hour;
    std::vector<NodePlan> plans = evaluator.known_to_hold();
    plans.push_back(answer_.plan.nodes);
    const auto tried = fresh_.cheapest(evaluator, plans, answer_.plan.value, limits);
    if (!tried) return tried.error();
    if (!*tried) {
      answer_.meets = answer_.plan.meets = false;
      answer_.notes.emplace_back("no plan found within the limits holds in 9 of 10 further draws of the jobs");
      return {};
    }
    const auto& [plan, held] = **tried;
    answer_.fresh_draws = request_.fresh_draws;
    answer_.fresh_held = held;
    if (plan == answer_.plan.nodes) return {};
    auto whole = evaluator.result(plan);
    if (!whole) return whole.error();
    const double least = answer_.plan.value;
    const std::string cheaper = join(plan_parts(answer_.plan.nodes), " + ");
    answer_.complete = false;
    is_replaced_ = true;
    answer_.notes.push_back(fmt::format(
        "{} holds in the search's own draws, and in fewer than {} of {} others: this plan "
        "is dearer by {:.1f}%",
        cheaper, fresh_draws_needed(request_.fresh_draws), request_.fresh_draws, 100 * (whole->value / least - 1)));
    answer_.plan = std::move(*whole);
    if (answer_.second_best && (!(answer_.second_best->value >= answer_.plan.value) ||
                                composition(answer_.second_best->nodes) == composition(answer_.plan.nodes))) {
      answer_.second_best.reset();
    }
    return {};
  }

  // What meeting would take, where the limits are in the way: the cheapest plan that a search as of a request without
  // a cost limit comes upon, or one with any number of nodes.
  Status would_meet(PlanEvaluator&) {
    if (answer_.meets) return {};
    tell("without limits");
    SizingInput endless = input_;
    for (NodeGroup& candidate : endless.candidates) candidate.nodes = candidate.nodes == 0 ? 0 : kAnyNumber;
    CapacitySizing sizing(endless);
    PlanEvaluator evaluator(request_, samples_, sizing, 1, count_);
    for (const CapacitySizing* without : {&unlimited_, &sizing}) {
      auto found = search_plans(evaluator, *without, request_.most_plans);
      if (!found) return found.error();
      if (Status done = without_each(evaluator, without->input().candidates, kUnknown, *found); !done)
        return done.error();
    }
    std::vector<NodePlan> plans = evaluator.known_to_hold();
    std::optional<NodePlan> cheapest;
    double least = kUnknown;
    for (const NodePlan& plan : plans) {
      const auto value = evaluator.value(plan);
      if (!value) return value.error();
      if (*value >= least) continue;
      least = *value;
      cheapest = plan;
    }
    if (!cheapest) return {};
    if (request_.fresh_draws > 0) {
      const auto tried = fresh_.cheapest(evaluator, plans, least, endless);
      if (!tried) return tried.error();
      if (!*tried) return {};
      cheapest = (**tried).first;
    }
    auto whole = evaluator.result(*cheapest);
    if (!whole) return whole.error();
    answer_.would_meet = std::move(*whole);
    return {};
  }

  Status slack(PlanEvaluator&) {
    if (!request_.slack) return {};
    tell("slack");
    // Beyond a fluid load of 1 nothing holds for long.
    const double stable = std::min(kMostGrowth, 0.999 / answer_.plan.fluid_load);
    std::map<double, PlanResult> known;
    for (size_t i = 0; i < answer_.plan.service.size(); ++i) {
      ServiceResult& service = answer_.plan.service[i];
      const auto holds = [&](double factor) -> Result<bool> {
        auto at = known.find(factor);
        if (at == known.end()) {
          auto result = at_rate(factor);
          if (!result) return result.error();
          at = known.emplace(factor, std::move(*result)).first;
        }
        return at->second.service[i].meets;
      };
      const bool now = service.meets && answer_.plan.fluid_load < 1;
      double low = now ? 1 : kLeastGrowth;
      double high = now ? stable : std::min(1.0, stable);
      const auto at_high = high > low && now ? holds(high) : Result<bool>(false);
      const auto at_low = now ? Result<bool>(true) : high > low ? holds(low) : Result<bool>(false);
      if (!at_high || !at_low) return at_high ? at_low.error() : at_high.error();
      if (!*at_low) continue;
      service.rate_limit_is_floor = *at_high;
      if (*at_high) low = high;
      while (high - low > kGrowthStep * low) {
        const double middle = std::sqrt(low * high);
        const auto held = holds(middle);
        if (!held) return held.error();
        (*held ? low : high) = middle;
      }
      service.rate_limit = low;
    }
    return {};
  }

  Status sensitivity() {
    if (!request_.perturb) return {};
    tell("forecast error");
    for (const double error : request_.errors) {
      std::vector<Workload> samples = samples_;
      for (size_t s = 0; s < samples.size(); ++s) {
        if (Status done = request_.perturb(samples[s], error, request_.seeds[s]); !done) return done;
      }
      auto result = PlanEvaluator(request_, samples, unlimited_, 1, count_).result(answer_.plan.nodes);
      if (!result) return result.error();
      answer_.sensitivity.push_back({error, result->meets, std::move(result->service)});
    }
    return {};
  }

  Status growth() {
    for (const double factor : request_.growth) {
      tell("growth");
      GrowthRow row;
      row.rate_factor = factor;
      const auto lower = unlimited_.cheapest(1, factor);
      if (!lower && lower.error().kind != ErrorKind::kInfeasible) return lower.error();
      if (lower) row.lower_bound = lower->value;
      if (factor == 1 && answer_.meets) {
        row.plan = answer_.plan;
        row.complete = answer_.complete;
      } else {
        auto samples = draw_samples(request_, factor);
        if (!samples) return samples.error();
        PlanEvaluator evaluator(request_, *samples, unlimited_, factor, count_);
        auto found = search_plans(evaluator, unlimited_, fewer_plans());
        if (!found) return found.error();
        if (found->best) {
          auto whole = evaluator.result(*found->best);
          if (!whole) return whole.error();
          row.plan = std::move(*whole);
          row.complete = found->complete;
        }
      }
      row.within_budget = row.plan && !(row.plan->cost_per_hour > request_.budget_per_hour * (1 + 1e-9));
      answer_.growth.push_back(std::move(row));
    }
    return {};
  }

  void describe() {
    for (const NodeGroup& candidate : request_.candidates) answer_.platforms.push_back(candidate.platform);
    answer_.currency = request_.currency;
    answer_.goal = request_.goal;
    answer_.policy = request_.policy;
    answer_.arrivals_per_s = input_.arrivals_per_s;
    answer_.budget_per_hour = request_.budget_per_hour;
    answer_.simulations = count_.simulations;
    answer_.plans = count_.plans;
    if (answer_.meets && answer_.lower_bound > 0) {
      answer_.gap_ratio = (answer_.plan.value - answer_.lower_bound) / answer_.lower_bound;
    }
    if (answer_.meets && !answer_.complete && !is_replaced_ && request_.goal != CapacityGoal::kPower) {
      answer_.notes.push_back(
          fmt::format("cheaper plans were left untried after {} in one search", request_.most_plans));
    }
    // At the lower bound no policy does better.
    const bool about_waits = std::ranges::any_of(request_.objectives, [](const ServiceObjective& objective) {
      return objective.metric != ServiceMetric::kDeadlineShare;
    });
    if (request_.suggests_policies && about_waits && composition(available(input_)).size() > 1 &&
        info(request_.policy).choice == GroupChoice::kFirstDone && !(answer_.gap_ratio < 1e-9)) {
      answer_.notes.push_back(
          fmt::format("under {} jobs may wait on purpose for a faster platform: try --policy easy or sjf",
                      info(request_.policy).name));
    }
    const auto waits_for_another = [](const JobRequest& job) { return job.after != kNoIndex; };
    if (std::any_of(samples_.front().jobs.begin(), samples_.front().jobs.end(), waits_for_another)) {
      answer_.notes.push_back("jobs wait for others to end: the lower bound takes the rate of arrivals as given");
    }
  }

  const CapacityRequest& request_;
  std::vector<Workload> samples_;
  const SizingInput& input_;
  CapacitySizing unlimited_;  // but for the candidates' numbers
  CapacityCount count_;
  FreshDraws fresh_{request_, unlimited_, count_};
  CapacityAnswer answer_;
  bool is_replaced_ = false;  // by a plan that holds in more draws than the search's
};

}  // namespace

const char* name_of(CapacityGoal goal) {
  switch (goal) {
    case CapacityGoal::kCost:
      return "cost_per_hour";
    case CapacityGoal::kPower:
      return "average_power_w";
    case CapacityGoal::kNodes:
      return "nodes";
  }
  return "";
}

size_t seeds_needed(SeedRule rule, size_t seeds) { return rule == SeedRule::kAll ? seeds : (9 * seeds + 9) / 10; }

Result<CapacityAnswer> plan_capacity(const CapacityRequest& request) {
  if (Status checked = check_request(request); !checked) return checked.error();
  auto samples = draw_samples(request, 1);
  if (!samples) return samples.error();
  const auto input = sizing_input(request, *samples);
  if (!input) return input.error();
  return Planner(request, std::move(*samples), *input).run();
}

}  // namespace perfcast::fleet
