#pragma once
// The weight of the KL term over a stage of training. Sources: linear warm-up, Bowman et al. 2016; cyclical annealing,
// Fu et al. 2019.

#include <cstdint>
#include <string>

#include "base/result.h"

namespace perfcast {

enum class KlSchedule { kNone, kLinear, kCyclical };

// "none", "linear", "cyclical".
std::string to_text(KlSchedule schedule);
// "bad-config" otherwise.
Result<KlSchedule> kl_schedule_from_text(const std::string& text);

// At step t = 1, 2, ... of T = steps:
//   none      1
//   linear    min(1, t / (ramp T))
//   cyclical  min(1, tau / ramp), tau = mod(t - 1, ceil(T / cycles)) / (T / cycles)
// ramp: 0 < ramp <= 1; cycles >= 1.
double kl_weight(KlSchedule schedule, int64_t step, int64_t steps, int64_t cycles = 4, double ramp = 0.5);

}  // namespace perfcast
