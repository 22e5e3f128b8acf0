#include "schedule/policy/policy.h"

#include <vector>

#include "base/text.h"

namespace perfcast {
namespace {

using enum Policy;
using enum PolicyNeeds;

// In the order of the enumerators.
constexpr PolicyInfo kPolicies[] = {
    {kFcfs, "fcfs", "first come, first served, on the group with the largest free share", false, kNothing},
    {kRoundRobin, "round-robin", "each job to the next group in turn, in proportion to the groups' sizes", false,
     kNothing},
    {kRandom, "random", "each job to a group drawn in proportion to the groups' sizes", false, kNothing},
    {kFastestFirst, "fastest-first", "first come, first served, on the free group whose platform is fastest on average",
     false, kNothing},
    {kEasy, "easy", "first come, first served with EASY backfilling by the time asked for (else the forecast)", false,
     kNothing},
    {kEasyForecast, "easy-forecast", "EASY backfilling by the forecast", false, kForecasts},
    {kShortestFirst, "sjf", "the job of the shortest forecast first, where it is forecast to run fastest", false,
     kForecasts},
    {kMinimumCompletion, "mct", "each job to the group where it is forecast to be done first", false, kForecasts},
    {kMinimumCompletionSafe, "mct-safe", "mct by the upper end of the forecast's interval", false, kForecastsIntervals},
    {kMinimumCompletionEnergy, "mct-energy", "mct, weighed against the energy forecast on each group", false,
     kForecastsPower},
    {kMinimumCompletionCost, "mct-cost", "mct, weighed against the cost forecast on each group", false,
     kForecastsPrices},
    {kOracle, "oracle", "mct with the true run times, which nobody has", false, kNothing},
    {kFifo, "fifo", "in order of arrival, each job on the first group with room, to its end", true, kNothing},
    {kFifoFastest, "fifo-fastest", "in order of arrival, each job on the group with room that suits it best", true,
     kForecasts},
    {kFifoAware, "fifo-aware", "in order of arrival, earlier jobs on the groups that suit them best", true, kForecasts},
    {kMaxMin, "max-min", "equal shares of time, split over the groups by their size (LAS)", true, kNothing},
    {kMaxMinAware, "max-min-aware", "the lowest normalised speed as high as can be (LAS)", true, kForecasts},
    {kMakespanAware, "makespan-aware", "the last job ends as early as can be", true, kForecasts},
    {kFinishTimeFair, "finish-time-fair",
     "the worst job's time over that in a share of its own as low as can be (Themis)", true, kForecasts},
};

}  // namespace

std::span<const PolicyInfo> policies() { return kPolicies; }

const PolicyInfo& info(Policy policy) { return kPolicies[static_cast<size_t>(policy)]; }

Result<Policy> policy_named(std::string_view name) {
  std::vector<std::string> names;
  for (const PolicyInfo& candidate : kPolicies) {
    if (name == candidate.name) return candidate.policy;
    names.emplace_back(candidate.name);
  }
  const std::string wanted(name);
  return usage_error("unknown-policy", "there is no policy '" + printable(wanted) + "'", "",
                     "near it: " + nearest_names(wanted, names) + "; all: " + join(names, ", "));
}

std::string names_of_policies(bool preempting) {
  std::vector<std::string> names;
  for (const PolicyInfo& candidate : kPolicies) {
    if (candidate.preempts == preempting) names.emplace_back(candidate.name);
  }
  return join(names, ", ");
}

}  // namespace perfcast
