#include "fleet/capacity/demand.h"

#include <fmt/format.h>

#include <cmath>

#include "fleet/capacity/capacity_sizing.h"

namespace perfcast::fleet {

void scale_arrivals(Workload& workload, double factor) {
  if (factor == 1) return;
  for (JobRequest& job : workload.jobs) {
    const double earlier_s = job.arrival_s - job.arrival_s / factor;
    job.arrival_s -= earlier_s;
    for (double* time_s : {&job.cancelled_s, &job.deadline_s}) {
      *time_s -= earlier_s;
      if (*time_s < 0) *time_s = 0;  // NaN, none, stays
    }
  }
}

Status set_deadlines(Workload& workload, const Cluster& cluster, double factor) {
  if (const auto columns = match_platforms(cluster, workload); !columns) return columns.error();
  const std::vector<double> times = candidate_times(workload, cluster.groups);
  const size_t groups = cluster.groups.size();
  for (size_t i = 0; i < workload.size(); ++i) {
    double fastest_s = kUnknown;
    for (size_t g = 0; g < groups; ++g) fastest_s = std::fmin(fastest_s, times[i * groups + g]);
    if (!std::isnan(fastest_s)) workload.jobs[i].deadline_s = workload.jobs[i].arrival_s + factor * fastest_s;
  }
  return {};
}

Result<size_t> set_default_limits(Workload& workload, double limit_s) {
  if (!(limit_s > 0) || std::isinf(limit_s)) {
    return usage_error("bad-usage", fmt::format("a default limit of {} s", limit_s), "",
                       "seconds above 0, such as 3600");
  }
  size_t set = 0;
  for (size_t job = 0; job < workload.size(); ++job) {
    double& limit = workload.jobs[job].limit_s;
    if (!std::isnan(limit)) continue;
    limit = limit_s;
    for (const double time_s : workload.times(job)) {
      if (time_s > limit) limit = time_s;
    }
    ++set;
  }
  return set;
}

}  // namespace perfcast::fleet
