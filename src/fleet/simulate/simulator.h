#pragma once
// Discrete-event simulation in virtual time: the same input and seed give the same bytes. Jobs run to their end where
// they started (round_simulator.h has the policies that preempt).

#include "base/result.h"
#include "fleet/jobs/cluster.h"
#include "fleet/jobs/outcome.h"
#include "fleet/jobs/workload.h"
#include "fleet/policy/policy.h"
#include "fleet/policy/simulation_options.h"

namespace perfcast::fleet {

// "no-nodes", "bad-cluster", "bad-workload", "cyclic-dependency", "missing-platform", "too-many-groups" (64 at most),
// "no-forecast", "no-interval", "no-power", "no-price", "bad-option" (a policy that preempts, too). A job that fits
// nowhere is kImpossible and counted in the notes; whatever waits for it goes on as after its end.
Result<Outcome> simulate(const Cluster& cluster, const Workload& workload, Policy policy,
                         const SimulationOptions& options);

}  // namespace perfcast::fleet
