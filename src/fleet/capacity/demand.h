#pragma once
// The same jobs as they would come faster, or in a hurry.

#include "base/result.h"
#include "fleet/jobs/cluster.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

// Jobs come `factor` (above 0) times as fast: each arrival at 1 / factor of its time. Cancellations and deadlines move
// with their job's arrival, as patient and as pressed for time as before; a deadline that would lie before 0 s, and so
// before its job's arrival, is 0 s. Times between jobs that wait for each other stay.
void scale_arrivals(Workload& workload, double factor);

// Each job's deadline becomes arrival + `factor` times the time it runs on the fastest platform of the cluster whose
// nodes hold it, to its end or its limit; jobs that fit nowhere keep what they had. "missing-platform".
Status set_deadlines(Workload& workload, const Cluster& cluster, double factor);

// Jobs that ask for no time ask for this, or for their longest run time where that is longer, so that nobody is killed
// who set no limit. Returns how many. "bad-usage": a limit that isn't above 0.
Result<size_t> set_default_limits(Workload& workload, double limit_s);

}  // namespace perfcast::fleet
