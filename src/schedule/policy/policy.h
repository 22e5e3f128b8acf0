#pragma once
// The policies, an explicit list. One is two rules: where a job may start, and in which order waiting jobs are looked
// at.

#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast {

enum class Policy {
  kFcfs,
  kRoundRobin,
  kRandom,
  kFastestFirst,
  kEasy,
  kEasyForecast,
  kShortestFirst,
  kMinimumCompletion,
  kMinimumCompletionSafe,
  kMinimumCompletionEnergy,
  kMinimumCompletionCost,
  kOracle,
};

struct PolicyInfo {
  Policy policy;
  const char* name;  // on the command line and in JSON
  const char* text;  // a line for people
};

const std::vector<PolicyInfo>& policies();
const PolicyInfo& info(Policy policy);

// "unknown-policy" with the valid names.
Result<Policy> policy_named(const std::string& name);

}  // namespace perfcast
