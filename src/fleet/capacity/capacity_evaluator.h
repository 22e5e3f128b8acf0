#pragma once
// Simulates plans, each once, on the same jobs. Internal to capacity planning.

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "fleet/capacity/capacity.h"

namespace perfcast::fleet {

struct CapacityCount {
  int64_t simulations = 0, plans = 0;
};

class PlanEvaluator {
 public:
  // `samples`: one for each seed of the request; all three outlive this.
  PlanEvaluator(const CapacityRequest& request, const std::vector<Workload>& samples, CapacitySizing& sizing,
                double rate_factor, CapacityCount& count)
      : request_(request), samples_(samples), sizing_(sizing), rate_factor_(rate_factor), count_(count) {}

  // Stops at the seed that decides.
  Result<bool> holds(const NodePlan& plan);
  // Everything about a plan, all seeds simulated.
  Result<PlanResult> result(const NodePlan& plan);
  // Sum of the shortfalls, of the seeds that holds() looked at.
  Result<double> shortfall_of(const NodePlan& plan);
  // Value of the goal: of price and count at once, of power by simulation.
  Result<double> value(const NodePlan& plan);

  double load(const NodePlan& plan);
  double rate_factor() const { return rate_factor_; }
  const std::vector<Workload>& samples() const { return samples_; }
  const CapacityRequest& request() const { return request_; }
  const CapacityCount& count() const { return count_; }
  std::vector<NodePlan> known_to_hold() const;

 private:
  struct Record {
    std::vector<PlanMeasure> measures;  // of the first seeds
    std::optional<bool> holds;
  };
  Record& record(const NodePlan& plan);
  Status simulate_next(const NodePlan& plan, Record& record);
  std::optional<bool> decided(const Record& record) const;
  std::vector<ServiceResult> service(const Record& record) const;
  size_t draws_held(const Record& record) const;

  const CapacityRequest& request_;
  const std::vector<Workload>& samples_;
  CapacitySizing& sizing_;
  double rate_factor_;
  CapacityCount& count_;
  std::map<NodePlan, Record> records_;
  std::map<NodePlan, double> loads_;
};

Cluster cluster_of(const CapacityRequest& request, const NodePlan& plan);    // groups without nodes left out
double cost_per_hour(const CapacityRequest& request, const NodePlan& plan);  // NaN where a price isn't known
int64_t node_count(const NodePlan& plan);

}  // namespace perfcast::fleet
