#pragma once
// What a simulation in rounds is told beyond the jobs, the machines and the policy.

#include <cstddef>
#include <cstdint>

namespace perfcast::fleet {

// What the linear programs do with time that their objective leaves free, once its optimum is reached.
enum class LeftOver : uint8_t {
  kVertex,     // a vertex of the first program, as the solver finds it
  kSum,        // a second program: the largest sum of normalised speeds that keeps the optimum
  kWaterFill,  // max-min again and again among the jobs that can still gain (the paper's section 4.3), up to 40 times;
               // makespan-aware, which has no levels, takes kSum instead
};

struct RoundOptions {
  double round_s = 360;
  LeftOver left_over = LeftOver::kWaterFill;
  bool kill_at_limit = true;  // as SimulationOptions
  bool segments = false;      // Outcome::segments; consecutive rounds on one group are one segment
  // Stops once the first so many jobs have ended; 0: all. What of the others hasn't ended then has no end_s.
  size_t measured_jobs = 0;
  int64_t most_rounds = 100'000'000;
};

}  // namespace perfcast::fleet
