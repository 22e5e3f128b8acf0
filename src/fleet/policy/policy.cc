#include "fleet/policy/policy.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace perfcast::fleet {
namespace {

using enum Policy;
using enum PolicyNeeds;
using enum GroupChoice;
using enum GroupOrder;

// In the order of the enumerators.
constexpr PolicyInfo kPolicies[] = {
    {.name = "fcfs",
     .text = "first come, first served, on the group with the largest free share",
     .policy = kFcfs,
     .order = kFreest},
    {.name = "round-robin",
     .text = "each job to the next group in turn, in proportion to the groups' sizes",
     .policy = kRoundRobin,
     .choice = kInTurn,
     .order = kFreest},
    {.name = "random",
     .text = "each job to a group drawn in proportion to the groups' sizes",
     .policy = kRandom,
     .choice = kByChance,
     .order = kFreest,
     .is_reference = true},
    {.name = "fastest-first",
     .text = "first come, first served, on the free group whose platform is fastest on average",
     .policy = kFastestFirst,
     .order = kFastestPlatform},
    {.name = "easy",
     .text = "first come, first served with EASY backfilling by the time asked for (else the forecast)",
     .policy = kEasy,
     .order = kFreest,
     .backfills = true},
    {.name = "easy-forecast",
     .text = "EASY backfilling by the forecast",
     .policy = kEasyForecast,
     .needs = kForecasts,
     .backfills = true},
    {.name = "sjf",
     .text = "the job of the shortest forecast first, where it is forecast to run fastest",
     .policy = kShortestFirst,
     .needs = kForecasts,
     .shortest_first = true},
    {.name = "mct",
     .text = "each job to the group where it is forecast to be done first",
     .policy = kMinimumCompletion,
     .needs = kForecasts,
     .choice = kFirstDone},
    {.name = "mct-safe",
     .text = "mct by the upper end of the forecast's interval",
     .policy = kMinimumCompletionSafe,
     .needs = kForecastsIntervals,
     .choice = kFirstDone},
    {.name = "mct-energy",
     .text = "mct, weighed against the energy forecast on each group",
     .policy = kMinimumCompletionEnergy,
     .needs = kForecastsPower,
     .choice = kFirstDone},
    {.name = "mct-cost",
     .text = "mct, weighed against the cost forecast on each group",
     .policy = kMinimumCompletionCost,
     .needs = kForecastsPrices,
     .choice = kFirstDone},
    {.name = "oracle",
     .text = "mct with the true run times, which nobody has",
     .policy = kOracle,
     .choice = kFirstDone,
     .knows_times = true,
     .is_reference = true},
    {.name = "fifo",
     .text = "in order of arrival, each job on the first group with room, to its end",
     .policy = kFifo,
     .preempts = true},
    {.name = "fifo-fastest",
     .text = "in order of arrival, each job on the group with room that suits it best",
     .policy = kFifoFastest,
     .needs = kForecasts,
     .preempts = true},
    {.name = "fifo-aware",
     .text = "in order of arrival, earlier jobs on the groups that suit them best",
     .policy = kFifoAware,
     .needs = kForecasts,
     .preempts = true},
    {.name = "max-min",
     .text = "equal shares of time, split over the groups by their size (LAS)",
     .policy = kMaxMin,
     .preempts = true,
     .weighs_priorities = true},
    {.name = "max-min-aware",
     .text = "the lowest normalised speed as high as can be (LAS)",
     .policy = kMaxMinAware,
     .needs = kForecasts,
     .preempts = true,
     .weighs_priorities = true},
    {.name = "makespan-aware",
     .text = "the last job ends as early as can be",
     .policy = kMakespanAware,
     .needs = kForecasts,
     .preempts = true},
    {.name = "finish-time-fair",
     .text = "the worst job's time over that in a share of its own as low as can be (Themis)",
     .policy = kFinishTimeFair,
     .needs = kForecasts,
     .preempts = true,
     .weighs_priorities = true,
     .counts_own_share = true},
};

}  // namespace

std::span<const PolicyInfo> policies() { return kPolicies; }

const PolicyInfo& info(Policy policy) { return kPolicies[static_cast<size_t>(policy)]; }

std::vector<std::string> policy_names(bool (*which)(const PolicyInfo&)) {
  std::vector<std::string> names;
  for (const PolicyInfo& candidate : kPolicies) {
    if (which(candidate)) names.emplace_back(candidate.name);
  }
  return names;
}

Result<Policy> policy_named(std::string_view name) {
  for (const PolicyInfo& candidate : kPolicies) {
    if (name == candidate.name) return candidate.policy;
  }
  const std::string wanted(name);
  const auto names = policy_names([](const PolicyInfo&) { return true; });
  return usage_error("unknown-policy", "there is no policy '" + printable(wanted) + "'", "",
                     "near it: " + nearest_names(wanted, names) + "; all: " + join(names, ", "));
}

std::string names_of_policies(bool preempting) {
  return join(preempting ? policy_names([](const PolicyInfo& policy) { return policy.preempts; })
                         : policy_names([](const PolicyInfo& policy) { return !policy.preempts; }),
              ", ");
}

bool is_reference(std::string_view name) {
  return std::ranges::any_of(kPolicies,
                             [&](const PolicyInfo& policy) { return policy.is_reference && policy.name == name; });
}

}  // namespace perfcast::fleet
