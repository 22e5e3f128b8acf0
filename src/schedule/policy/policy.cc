#include "schedule/policy/policy.h"

#include <algorithm>

#include "base/text.h"

namespace perfcast {

const std::vector<PolicyInfo>& policies() {
  static const std::vector<PolicyInfo> kAll = {
      {Policy::kFcfs, "fcfs", "first come, first served, on the group with the largest free share"},
      {Policy::kRoundRobin, "round-robin", "each job to the next group in turn, in proportion to the groups' sizes"},
      {Policy::kRandom, "random", "each job to a group drawn in proportion to the groups' sizes"},
      {Policy::kFastestFirst, "fastest-first",
       "first come, first served, on the free group whose platform is fastest on average"},
      {Policy::kEasy, "easy",
       "first come, first served with EASY backfilling by the time asked for (else the forecast)"},
      {Policy::kEasyForecast, "easy-forecast", "EASY backfilling by the forecast"},
      {Policy::kShortestFirst, "sjf", "the job of the shortest forecast first, where it is forecast to run fastest"},
      {Policy::kMinimumCompletion, "mct", "each job to the group where it is forecast to be done first"},
      {Policy::kMinimumCompletionSafe, "mct-safe", "mct by the upper end of the forecast's interval"},
      {Policy::kMinimumCompletionEnergy, "mct-energy", "mct, weighed against the energy forecast on each group"},
      {Policy::kMinimumCompletionCost, "mct-cost", "mct, weighed against the cost forecast on each group"},
      {Policy::kOracle, "oracle", "mct with the true run times, which nobody has"},
  };
  return kAll;
}

const PolicyInfo& info(Policy policy) {
  return *std::find_if(policies().begin(), policies().end(),
                       [&](const PolicyInfo& candidate) { return candidate.policy == policy; });
}

Result<Policy> policy_named(const std::string& name) {
  std::vector<std::string> names;
  for (const PolicyInfo& candidate : policies()) {
    if (name == candidate.name) return candidate.policy;
    names.emplace_back(candidate.name);
  }
  return usage_error("unknown-policy", "there is no policy '" + printable(name) + "'", "",
                     "one of: " + join(names, ", "));
}

}  // namespace perfcast
