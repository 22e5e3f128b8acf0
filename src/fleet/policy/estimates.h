#pragma once
// What a policy believes of a job's run time before it ran: the one place that says which column stands for it.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/cluster.h"
#include "fleet/jobs/workload.h"
#include "fleet/policy/policy.h"
#include "fleet/policy/simulation_options.h"

namespace perfcast::fleet {

class Estimates {
 public:
  // `columns`: match_platforms(). `backfills`: the queue is backfilled, which takes an estimate under every policy.
  // "no-forecast", "no-interval", "no-power", "no-price": the policy needs what is absent (all of kind
  // kInfeasible: another policy may do without).
  static Result<Estimates> make(const Cluster& cluster, const Workload& workload, Policy policy,
                                const std::vector<int32_t>& columns, const SimulationOptions& options, bool backfills);

  // Whether the job can run on the group at all, and the policy knows something of it there.
  bool known(size_t job, size_t group) const { return estimate_s(job, group) >= 0; }
  // Seconds, never more than the limit where jobs are killed there; NaN where the job can't run or nothing is known.
  double estimate_s(size_t job, size_t group) const;
  // What the job's own run counts for where completion times are compared: the upper end under mct-safe.
  double cautious_s(size_t job, size_t group) const;
  // What the job adds there: joules above idle (its own where the workload has them, else its share of busy - idle
  // power), or its share of the node's price; 1 where the policy weighs nothing.
  double expense(size_t job, size_t group) const;
  // Exponent of expense in a score of completion^(1 - weight) x expense^weight; 0: completion alone.
  double weight() const { return weight_; }
  // Groups from the platform that is truly the fastest on average to the slowest, as any benchmark tells, as ranks:
  // equal within the ratio share one.
  std::vector<int32_t> platform_ranks(double tie_ratio) const;

 private:
  enum class Source { kTime, kForecast, kLimit };
  const Cluster* cluster_ = nullptr;
  const Workload* workload_ = nullptr;
  std::vector<int32_t> columns_;
  Policy policy_ = Policy::kFcfs;
  Source first_ = Source::kTime;
  Source second_ = Source::kTime;
  double weight_ = 0;
  bool capped_ = true;  // at the limit
  double capped(double seconds, size_t job) const;
  double read(Source source, size_t job, size_t column) const;
};

}  // namespace perfcast::fleet
