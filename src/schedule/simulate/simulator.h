#pragma once
// Discrete-event simulation in virtual time: the same input and seed give the same bytes. Jobs run to their end where
// they started (round_simulator.h has the policies that preempt).

#include <cstdint>

#include "base/result.h"
#include "schedule/jobs/cluster.h"
#include "schedule/jobs/outcome.h"
#include "schedule/jobs/workload.h"
#include "schedule/policy/policy.h"

namespace perfcast {

struct SimulationOptions {
  uint64_t seed = 1;             // of the random policy
  bool backfill = false;         // EASY backfilling under every policy, not only where its name says so
  bool kill_at_limit = true;     // a job that runs longer than it asked for ends there, undone
  double tie_ratio = 0.01;       // forecasts this close are a tie, and ties go to all best platforms
  double weight = 0.5;           // of energy or cost against completion time, 0 to 1
  bool record_segments = false;  // Outcome::segments and parts: who ran where
};

// "no-nodes", "bad-cluster", "bad-workload", "cyclic-dependency", "missing-platform", "too-many-groups" (64 at most),
// "no-forecast", "no-interval", "no-power", "no-price", "bad-option". A job that fits nowhere is kImpossible and
// counted in the notes; whatever waits for it goes on as after its end.
Result<Outcome> simulate(const Cluster& cluster, const Workload& workload, Policy policy,
                         const SimulationOptions& options);

}  // namespace perfcast
