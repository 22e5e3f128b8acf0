#pragma once
// Services that might be enough, simulated.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "ai/serving_plan/serving_plan.h"
#include "base/result.h"

namespace perfcast::ai {

struct ServiceKind {
  size_t device = 0;            // of the request
  int64_t tensor_parallel = 1;  // devices of a replica
};

struct TrialTerms {
  double load_factor = 1;
  double error_deviations = 0;  // of the forecast's error in standard deviations; above 0 all is slower
};

// How much of a service is simulated.
enum class TrialExtent : uint8_t {
  kRough,  // one replica with its share of the load, few requests
  kPart,   // up to kPartReplicas with their share
  kWhole,
};
inline constexpr int64_t kPartReplicas = 8;

inline double real_of(int64_t count) { return static_cast<double>(count); }

struct ServiceTrial {
  bool holds = false;          // keeps up, and all objectives
  double overload = kUnknown;  // the load over what was served of it, where it falls behind
  int64_t simulated_replicas = 0;
  ServingRow row;
  // Why nothing can be simulated, on any number of replicas: "no-memory", "too-long", "unknown-fact".
  std::string code, problem;
};

class ServiceTrials {
 public:
  explicit ServiceTrials(const ServingPlanRequest& request) : request_(request) {}  // which must outlive it

  // Each is simulated once.
  Result<ServiceTrial> run(const ServiceKind& kind, int64_t replicas, const TrialTerms& terms, TrialExtent extent);
  // Some requests one after the other: what no number of replicas makes better. Objectives that are missed by no more
  // than chance count as kept.
  Result<ServiceTrial> alone(const ServiceKind& kind, const TrialTerms& terms);

  int64_t simulations() const { return simulations_; }

 private:
  Result<ServiceTrial> simulate(const ServiceKind& kind, int64_t replicas, const TrialTerms& terms,
                                const ServingLoad& load);
  int64_t requests_for(double load_factor, int64_t replicas, TrialExtent extent) const;

  using Key = std::tuple<size_t, int64_t, int64_t, double, double, TrialExtent>;
  const ServingPlanRequest& request_;
  std::map<Key, ServiceTrial> known_;
  // Of a device and a degree: requests that told whether it keeps up. Others of its services begin with as many.
  std::map<std::pair<size_t, int64_t>, int64_t> needed_;
  int64_t simulations_ = 0;
};

}  // namespace perfcast::ai
