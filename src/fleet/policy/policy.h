#pragma once
// The policies, one table: what each is called, whether it preempts and which figures it goes by. Those that don't
// preempt run each job to its end where it starts (simulator.h) and are two rules: where a job may start, and in which
// order waiting jobs are looked at. Those that do hand out shares of time in rounds (round_simulator.h,
// share_policies.h).

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perfcast::fleet {

enum class Policy : uint8_t {
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
  kFifo,
  kFifoFastest,
  kFifoAware,
  kMaxMin,
  kMaxMinAware,
  kMakespanAware,
  kFinishTimeFair,
};

// What a policy goes by beyond what jobs ask for. A job's limit may stand for its forecast.
enum class PolicyNeeds : uint8_t {
  kNothing,
  kForecasts,           // Workload::forecast_s
  kForecastsIntervals,  // and upper_s
  kForecastsPower,      // and energy_joules, or the nodes' idle and busy power
  kForecastsPrices,     // and the nodes' prices
};

struct PolicyInfo {
  const char* name;  // on the command line and in JSON
  const char* text;  // a line for people
  Policy policy;
  bool preempts;
  PolicyNeeds needs;

  bool uses_forecasts() const { return needs != PolicyNeeds::kNothing; }
};

std::span<const PolicyInfo> policies();  // all, in the order of reports
const PolicyInfo& info(Policy policy);

// Usage error "unknown-policy" with near names and all names.
Result<Policy> policy_named(std::string_view name);
std::string names_of_policies(bool preempting);  // "fcfs, round-robin, ..."

}  // namespace perfcast::fleet
