#pragma once
// What a cluster is held to: the service that its jobs get, and how a simulated plan comes off.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/jobs/cluster.h"
#include "fleet/jobs/outcome.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

enum class ServiceMetric : uint8_t { kP99Wait, kMeanWait, kMeanBoundedSlowdown, kDeadlineShare };

// The metric is to be `target` at most; a deadline share at least.
struct ServiceObjective {
  ServiceMetric metric = ServiceMetric::kMeanWait;
  double target = 0;
};

struct ServiceMetricInfo {
  ServiceMetric metric;
  const char* name;  // in JSON, with its unit: "p99_wait_s"
  const char* text;  // for people: "p99 wait"
  bool is_time;      // in seconds; otherwise a number
  bool at_least;     // more is better
};
const std::vector<ServiceMetricInfo>& service_metrics();
const ServiceMetricInfo& info(ServiceMetric metric);
// By its name: "bad-objective" with the valid ones, or where the target is no number, negative, a share above 1 or a
// bounded slowdown below 1.
Result<ServiceObjective> service_objective(const std::string& name, double target);

// One simulated plan under one sample of the demand. Times are of the jobs that come after the warm-up; power and use
// are means over the time from there to the last arrival.
struct PlanMeasure {
  double p99_wait_s = kUnknown;  // start - ready; a job that gave up waited as long as it did
  double mean_wait_s = kUnknown;
  double mean_bounded_slowdown = kUnknown;  // max(1, (end - ready) / max(run, 10 s)), Feitelson et al., JSSPP 1997
  double deadline_share = kUnknown;         // done in time, of the jobs that have a deadline
  int64_t impossible = 0;                   // jobs that fit no node: with one, every objective is missed
  double average_power_w = kUnknown;        // idle power of all nodes, and of jobs what they draw above it
  std::vector<double> utilisation;          // [groups] of cores held; of GPUs where nodes have and jobs want them

  double value(ServiceMetric metric) const;
};
PlanMeasure measure_plan(const Cluster& cluster, const Workload& workload, const Outcome& outcome, double warmup_share);

bool meets(const ServiceObjective& objective, double value);  // false for NaN
// How far a value is off, 0 where it meets: (value - target) / target of waits and slowdowns, target - value of shares.
double shortfall(const ServiceObjective& objective, double value);

// First job that counts, of those in order of arrival.
size_t first_measured(const Workload& workload, double warmup_share);

// Whether such a sample can tell: "no-objective", "bad-objective", "too-few-jobs" (a p99 needs 100 after the warm-up),
// "no-deadline"; "unreachable-objective": even alone on its fastest candidate, too many jobs miss their deadline.
// `times`: [n x candidates] effective run times, NaN where a job fits no node of the candidate.
Status check_objectives(std::span<const ServiceObjective> objectives, const Workload& workload, double warmup_share,
                        std::span<const double> times);

}  // namespace perfcast::fleet
