#pragma once
// A schedule as a trace (base/report/chrome_trace.h).

#include "fleet/jobs/outcome.h"
#include "fleet/report/schedule_report.h"

namespace perfcast::fleet {

// One process for each group of the cluster, named by its platform; one thread for each job that a node runs at a time
// (a lane, "node 3" or "node 3, lane 2"), or "lane 2" of the group where segments name no nodes; one complete event for
// each part of a segment. Times are microseconds of virtual time, rounded, so that events of a lane never overlap.
// Counters: jobs that wait to start first, and the cores (GPUs) in use of each group. Jobs that never ended are left
// out. Without segments the lanes are made from the results.
void write_chrome_trace(const Cluster& cluster, const Workload& workload, const Outcome& outcome, const TextSink& sink);

}  // namespace perfcast::fleet
