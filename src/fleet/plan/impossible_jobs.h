#pragma once
// Jobs that nothing of a cluster can run. One rule for simulations and plans: they are said first and take no part.

#include <cstddef>
#include <string>
#include <vector>

#include "fleet/jobs/cluster.h"
#include "fleet/jobs/workload.h"

namespace perfcast::fleet {

// Indices of jobs that no group holds on its nodes, all free, or that have no time on any that does. Groups of any
// number of nodes (kAnyNumber) hold what their nodes hold together.
std::vector<size_t> impossible_jobs(const Workload& workload, const std::vector<NodeGroup>& groups);

// "2 of 30 jobs fit no node ...", with the first of them; empty where there is none.
std::string impossible_note(const Workload& workload, const std::vector<size_t>& jobs);

// Those that waited for one of them wait for nobody.
void leave_out(Workload& workload, const std::vector<size_t>& jobs);

}  // namespace perfcast::fleet
