#pragma once
// The policies, one table: what each is called and all that others ask about it. Those that don't preempt run each job
// to its end where it starts (simulator.h) and are made of the rules below. Those that do hand out shares of time in
// rounds (round_simulator.h, share_policies.h).

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// Where a job may start, decided as it arrives.
enum class GroupChoice : uint8_t {
  kAny,        // wherever it can run
  kInTurn,     // on the next group in turn
  kByChance,   // on one drawn
  kFirstDone,  // where it is believed to be done first, be it that it waits there
};

// Which of the groups with room a job that starts is tried on first.
enum class GroupOrder : uint8_t {
  kFreest,
  kFastestPlatform,  // on average over the jobs
  kFastestForJob,
};

struct PolicyInfo {
  const char* name;  // on the command line and in JSON
  const char* text;  // a line for people
  Policy policy;
  PolicyNeeds needs = PolicyNeeds::kNothing;
  // Of policies that don't preempt.
  GroupChoice choice = GroupChoice::kAny;
  GroupOrder order = GroupOrder::kFastestForJob;
  bool backfills = false;       // whether asked to or not
  bool shortest_first = false;  // waiting jobs by their estimates, not by their arrival
  bool knows_times = false;     // sees the true run times
  // Of policies that do.
  bool preempts = false;
  bool weighs_priorities = false;
  bool counts_own_share = false;  // compares jobs with how they would fare in a share of their own

  bool is_reference = false;  // nobody would run it: others are compared with it

  bool uses_forecasts() const { return needs != PolicyNeeds::kNothing; }
};

std::span<const PolicyInfo> policies();  // all, in the order of reports
const PolicyInfo& info(Policy policy);

// Usage error "unknown-policy" with near names and all names.
Result<Policy> policy_named(std::string_view name);
std::vector<std::string> policy_names(bool (*which)(const PolicyInfo&));
std::string names_of_policies(bool preempting);  // "fcfs, round-robin, ..."
bool is_reference(std::string_view name);        // false for a name that no policy has

}  // namespace perfcast::fleet
