#include "measure/watch/alarm_level.h"

#include <algorithm>
#include <cmath>

#include "measure/watch/archive.h"
#include "measure/watch/tail_lists.h"

namespace perfcast::measure {
namespace {

constexpr double kLists = 3;  // of a metric, had they nothing in common
constexpr double kRaise = 0.5, kMostRaised = 3;
constexpr double kUsualPerDay = 1.0 / 7, kUsualRows = 500;
constexpr double kMajorFar = 0.5, kCriticalFar = 2;  // usual deviations

}  // namespace

const char* to_text(Severity severity) {
  switch (severity) {
    case Severity::kMinor:
      return "minor";
    case Severity::kMajor:
      return "major";
    case Severity::kCritical:
      break;
  }
  return "critical";
}

double usual_false_alarms(double interval_s) {
  return std::min(kUsualPerDay, 86400 / (kUsualRows * std::max(interval_s, 1e-9)));
}

void AlarmLevel::set(double false_alarms_per_day, double interval_s, size_t columns) {
  if (!(false_alarms_per_day > 0)) false_alarms_per_day = usual_false_alarms(interval_s);
  const double blocks_per_day = 86400 / (std::max(interval_s, 1e-9) * static_cast<double>(TailLists::kBlockRows));
  level_ =
      std::max(std::log(blocks_per_day / false_alarms_per_day), 1.0) + std::log(kLists * static_cast<double>(columns));
  raised_ = 0;
  allowed_per_s_ = false_alarms_per_day / 86400;
}

void AlarmLevel::pass(double seconds) { raised_ = std::max(raised_ - kRaise * allowed_per_s_ * seconds, 0.0); }

void AlarmLevel::add_alarm() { raised_ = std::min(raised_ + kRaise, kMostRaised); }

Severity AlarmLevel::severity(double nats, double far) const {
  const double rarer = nats - level();
  if (rarer < std::log(10) || far < kMajorFar) return Severity::kMinor;
  return rarer < std::log(1000) || far < kCriticalFar ? Severity::kMajor : Severity::kCritical;
}

void AlarmLevel::archive(Archive& archive) { archive.values(level_, raised_, allowed_per_s_); }

}  // namespace perfcast::measure
