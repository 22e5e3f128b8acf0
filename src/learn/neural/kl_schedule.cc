#include "learn/neural/kl_schedule.h"

#include <algorithm>
#include <cmath>

namespace perfcast {

std::string to_text(KlSchedule schedule) {
  switch (schedule) {
    case KlSchedule::kNone:
      return "none";
    case KlSchedule::kLinear:
      return "linear";
    case KlSchedule::kCyclical:
      return "cyclical";
  }
  return "";
}

Result<KlSchedule> kl_schedule_from_text(const std::string& text) {
  for (const KlSchedule schedule : {KlSchedule::kNone, KlSchedule::kLinear, KlSchedule::kCyclical}) {
    if (to_text(schedule) == text) return schedule;
  }
  return Error{"bad-config", "there is no KL schedule '" + text + "'", "kl_schedule", "none, linear or cyclical"};
}

double kl_weight(KlSchedule schedule, int64_t step, int64_t steps, int64_t cycles, double ramp) {
  const auto t = static_cast<double>(step);
  const auto total = static_cast<double>(steps);
  if (schedule == KlSchedule::kNone || steps <= 0) return 1;
  if (schedule == KlSchedule::kLinear) return std::min(1.0, t / (ramp * total));
  const double period = total / static_cast<double>(cycles);
  const double tau = std::fmod(t - 1, std::ceil(period)) / period;
  return std::min(1.0, tau / ramp);
}

}  // namespace perfcast
