#include "fleet/jobs/job_power.h"

#include <cmath>

namespace perfcast::fleet {

double nodes_held(const JobRequest& job, const NodeGroup& group) {
  if (job.gpus > 0 && group.gpus_per_node > 0) {
    return static_cast<double>(job.gpus) / static_cast<double>(group.gpus_per_node);
  }
  return static_cast<double>(job.cores) / static_cast<double>(group.cores_per_node);
}

double power_above_idle_w(const Workload& workload, size_t job, const NodeGroup& group, int32_t column) {
  if (column != kNoIndex && !workload.energy_joules.empty()) {
    const double energy_joules = workload.row(workload.energy_joules, job)[static_cast<size_t>(column)];
    const double time_s = workload.times(job)[static_cast<size_t>(column)];
    if (std::isfinite(energy_joules) && time_s > 0) return energy_joules / time_s;
  }
  return (group.busy_w_per_node - group.idle_w_per_node) * nodes_held(workload.jobs[job], group);
}

}  // namespace perfcast::fleet
