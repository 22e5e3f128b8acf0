#include "fleet/capacity/capacity_draws.h"

#include <algorithm>
#include <set>

#include "fleet/capacity/capacity_request.h"

namespace perfcast::fleet {
namespace {

constexpr double kCheapestNeighbour = 0.8;            // of the cheapest plan of the search: on the way to others
constexpr int kMostTries = 40;                        // of plans, on fresh draws
constexpr size_t kMostKeptBytes = size_t{256} << 20;  // of fresh draws

}  // namespace

size_t fresh_draws_needed(size_t draws) { return (92 * draws + 99) / 100; }

Result<std::optional<size_t>> FreshDraws::count_held(const NodePlan& plan) {
  const size_t most_misses = request_.fresh_draws - fresh_draws_needed(request_.fresh_draws);
  CapacityRequest fresh = request_;
  const uint64_t last = *std::max_element(request_.seeds.begin(), request_.seeds.end());
  size_t held = 0;
  for (size_t i = 0; i < request_.fresh_draws; ++i) {
    fresh.seeds = {last + 1 + i};
    std::vector<Workload> drawn;
    if (i >= draws_.size()) {
      auto samples = draw_samples(fresh, 1);
      if (!samples) return samples.error();
      drawn = std::move(*samples);
      const size_t bytes = drawn[0].size() * (drawn[0].platforms.size() + 10) * 16;
      if (i == draws_.size() && bytes * request_.fresh_draws < kMostKeptBytes) draws_.push_back(std::move(drawn));
    }
    const auto result = PlanEvaluator(fresh, i < draws_.size() ? draws_[i] : drawn, sizing_, 1, count_).result(plan);
    if (!result) return result.error();
    held += result->draws_held;
    if (i + 1 - held > most_misses) return std::optional<size_t>();
  }
  return std::optional(held);
}

Result<FreshDraws::Tried> FreshDraws::cheapest(PlanEvaluator& evaluator, const std::vector<NodePlan>& plans,
                                               double least, const SizingInput& limits) {
  std::set<std::pair<double, NodePlan>> queue;
  std::set<NodePlan> seen;
  const auto add = [&](const NodePlan& plan) -> Status {
    for (size_t g = 0; g < plan.size(); ++g) {
      const int64_t most = limits.candidates[g].nodes;
      if (plan[g] < 0 || (most != kAnyNumber && plan[g] > most)) return {};
    }
    if (cost_per_hour(request_, plan) > limits.budget_per_hour * (1 + 1e-9)) return {};
    if (!(evaluator.load(plan) < 1) || !seen.insert(plan).second) return {};
    const auto value = evaluator.value(plan);
    if (!value) return value.error();
    if (*value >= kCheapestNeighbour * least) queue.emplace(*value, plan);
    return {};
  };
  for (const NodePlan& plan : plans) {
    if (Status added = add(plan); !added) return added.error();
  }
  int64_t looked_at = 0;
  for (int tries = 0; !queue.empty() && tries < kMostTries && looked_at < request_.most_plans; ++looked_at) {
    const auto [value, plan] = *queue.begin();
    queue.erase(queue.begin());
    const auto holds = value >= least * (1 - 1e-9) ? evaluator.holds(plan) : Result<bool>(false);
    if (!holds) return holds.error();
    if (*holds) {
      ++tries;
      const auto held = count_held(plan);
      if (!held) return held.error();
      if (*held) return Tried(std::pair(plan, **held));
    }
    for (size_t g = 0; g < plan.size(); ++g) {
      for (size_t other = 0; other <= plan.size(); ++other) {
        NodePlan next = plan;
        ++next[g];
        if (other == g) ++next[g];
        if (other < plan.size() && other != g) --next[other];
        if (Status added = add(next); !added) return added.error();
      }
    }
  }
  return Tried();
}

}  // namespace perfcast::fleet
