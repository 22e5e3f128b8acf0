#include "fleet/policy/policy.h"

#include <vector>

#include "base/text.h"

namespace perfcast::fleet {
namespace {

using enum Policy;
using enum PolicyNeeds;

// In the order of the enumerators.
constexpr PolicyInfo kPolicies[] = {
    {"fcfs", "first come, first served, on the group with the largest free share", kFcfs, false, kNothing},
    {"round-robin", "each job to the next group in turn, in proportion to the groups' sizes", kRoundRobin, false,
     kNothing},
    {"random", "each job to a group drawn in proportion to the groups' sizes", kRandom, false, kNothing},
    {"fastest-first", "first come, first served, on the free group whose platform is fastest on average", kFastestFirst,
     false, kNothing},
    {"easy", "first come, first served with EASY backfilling by the time asked for (else the forecast)", kEasy, false,
     kNothing},
    {"easy-forecast", "EASY backfilling by the forecast", kEasyForecast, false, kForecasts},
    {"sjf", "the job of the shortest forecast first, where it is forecast to run fastest", kShortestFirst, false,
     kForecasts},
    {"mct", "each job to the group where it is forecast to be done first", kMinimumCompletion, false, kForecasts},
    {"mct-safe", "mct by the upper end of the forecast's interval", kMinimumCompletionSafe, false, kForecastsIntervals},
    {"mct-energy", "mct, weighed against the energy forecast on each group", kMinimumCompletionEnergy, false,
     kForecastsPower},
    {"mct-cost", "mct, weighed against the cost forecast on each group", kMinimumCompletionCost, false,
     kForecastsPrices},
    {"oracle", "mct with the true run times, which nobody has", kOracle, false, kNothing},
    {"fifo", "in order of arrival, each job on the first group with room, to its end", kFifo, true, kNothing},
    {"fifo-fastest", "in order of arrival, each job on the group with room that suits it best", kFifoFastest, true,
     kForecasts},
    {"fifo-aware", "in order of arrival, earlier jobs on the groups that suit them best", kFifoAware, true, kForecasts},
    {"max-min", "equal shares of time, split over the groups by their size (LAS)", kMaxMin, true, kNothing},
    {"max-min-aware", "the lowest normalised speed as high as can be (LAS)", kMaxMinAware, true, kForecasts},
    {"makespan-aware", "the last job ends as early as can be", kMakespanAware, true, kForecasts},
    {"finish-time-fair", "the worst job's time over that in a share of its own as low as can be (Themis)",
     kFinishTimeFair, true, kForecasts},
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

}  // namespace perfcast::fleet
