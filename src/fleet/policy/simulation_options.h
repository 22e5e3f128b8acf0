#pragma once
// What a simulation is told beyond the jobs, the machines and the policy.

#include <cstdint>

namespace perfcast::fleet {

struct SimulationOptions {
  uint64_t seed = 1;             // of the random policy
  bool backfill = false;         // EASY backfilling under every policy, not only where its name says so
  bool kill_at_limit = true;     // a job that runs longer than it asked for ends there, undone
  double tie_ratio = 0.01;       // forecasts this close are a tie, and ties go to all best platforms
  double weight = 0.5;           // of energy or cost against completion time, 0 to 1
  bool record_segments = false;  // Outcome::segments and parts: who ran where
};

}  // namespace perfcast::fleet
