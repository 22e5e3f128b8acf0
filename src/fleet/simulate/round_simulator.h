#pragma once
// Preemptive scheduling by rounds in virtual time, the mechanism of Gavel (OSDI 2020, section 5): a policy says which
// share of its time each job should spend on each group; rounds approach these shares.

#include "base/result.h"
#include "fleet/jobs/cluster.h"
#include "fleet/jobs/outcome.h"
#include "fleet/jobs/workload.h"
#include "fleet/policy/round_options.h"
#include "fleet/policy/share_policies.h"

namespace perfcast::fleet {

// Each round: jobs that have come are admitted; when the set of jobs has changed the policy allocates anew; pairs of
// job and group with a share are taken in order of time due / time received there (due: the sum of the shares over the
// job's rounds), each job at most once, while cores or GPUs are free. Jobs run at their true speed; one that ends
// within a round ends then, its place is free from the next round on. An idle cluster skips to the next arrival. Aware
// policies see forecast_s, or the limit of jobs without any forecast, or time_s where the workload has no forecasts.
//
// Groups are pools: a job that may not spread must fit one node, but nodes aren't tracked. Memory likewise: a job runs
// on groups whose node (all nodes, where it may spread) has enough. Jobs with GPUs hold GPUs only, others cores.
//
// Errors: those of check_cluster, check_workload and match_platforms; "no-forecast"; "bad-usage" for the options,
// "bad-option" for a policy that doesn't preempt;
// "too-many-rounds"; the linear program's.
Result<Outcome> simulate_rounds(const Cluster& cluster, const Workload& workload, Policy policy,
                                const RoundOptions& options = {});

}  // namespace perfcast::fleet
