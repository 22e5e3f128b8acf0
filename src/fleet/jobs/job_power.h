#pragma once
// What a job holds of a group's nodes, and what it draws while it runs: the one rule behind energy in reports, in the
// policies that weigh it and in capacity plans.

#include <cstddef>
#include <cstdint>

#include "fleet/jobs/cluster.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

// In nodes: GPUs where it asks for some, cores otherwise.
double nodes_held(const JobRequest& job, const NodeGroup& group);

// W above the idle nodes: the job's own energy there over the time that it takes, where the workload has it; otherwise
// the share of the nodes that it holds of busy - idle power. NaN where neither is known. `column`: of the workload, for
// the group; kNoIndex: it has none.
double power_above_idle_w(const Workload& workload, size_t job, const NodeGroup& group, int32_t column);

}  // namespace perfcast::fleet
