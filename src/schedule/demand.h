#pragma once
// The same jobs as they would come faster, or in a hurry.

#include "base/result.h"
#include "schedule/cluster.h"
#include "schedule/workload.h"

namespace perfcast {

// Jobs come `factor` (above 0) times as fast: each arrival at 1 / factor of its time. Cancellations and deadlines move
// with their job's arrival, as patient and as pressed for time as before; a deadline that would lie before 0 s, and so
// before its job's arrival, is 0 s. Times between jobs that wait for each other stay.
void scale_arrivals(Workload& workload, double factor);

// Each job's deadline becomes arrival + `factor` times the time it runs on the fastest platform of the cluster whose
// nodes hold it, to its end or its limit; jobs that fit nowhere keep what they had. "missing-platform".
Status set_deadlines(Workload& workload, const Cluster& cluster, double factor);

}  // namespace perfcast
