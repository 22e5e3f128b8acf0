#include "measure/watch/alarm_level.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "measure/watch/archive.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMost = 64;        // largest scores that are kept
constexpr size_t kUsed = 24;        // of them, in a fit
constexpr double kLeastBeta = 0.7;  // nats; were surprises exact, 1
constexpr double kMemory_days = 14;

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

void AlarmLevel::fit(std::vector<float> maxima, double days, double allowed_per_day) {
  allowed_per_day_ = allowed_per_day;
  days_ = std::max(days, 1e-6);
  maxima_ = std::move(maxima);
  alarms_ = 0;
  refit();
}

void AlarmLevel::add(float maximum) {
  if (static_cast<double>(maximum) > level_) {
    alarms_ += 1;
  } else {
    maxima_.push_back(maximum);
    if (maxima_.size() >= 4 * kMost) {
      std::nth_element(maxima_.begin(), maxima_.begin() + kMost, maxima_.end(), std::greater<>());
      maxima_.resize(kMost);
    }
  }
}

void AlarmLevel::follow() {
  refit();
  if (days_ <= kMemory_days) return;
  // Half is forgotten: every second of the largest scores, half of the time and of the alarms.
  std::vector<float> kept;
  for (size_t i = 0; i < maxima_.size(); i += 2) kept.push_back(maxima_[i]);
  maxima_ = std::move(kept);
  days_ /= 2;
  alarms_ /= 2;
}

void AlarmLevel::refit() {
  std::sort(maxima_.begin(), maxima_.end(), std::greater<>());
  if (maxima_.size() > kMost) maxima_.resize(kMost);
  if (maxima_.empty()) {
    level_ = 12;
    beta_ = 1;
    return;
  }
  // Of some forty clusters the upper half or less: what is common says little of what is rare.
  const size_t k = std::clamp<size_t>(maxima_.size() / 2, 1, kUsed);
  const auto bound = static_cast<double>(k < maxima_.size() ? maxima_[k] : maxima_.back());
  // By the median, as few moments far out are to raise it little.
  double excess = static_cast<double>(k) * (static_cast<double>(maxima_[k / 2]) - bound) / std::log(2.0);
  const double censored = std::min(alarms_, 2 * allowed_per_day_ * days_);
  if (level_ < 1e29) excess += censored * std::max(level_ - bound, 0.0);
  const auto count = static_cast<double>(k) + (level_ < 1e29 ? censored : 0);
  beta_ = std::max(excess / static_cast<double>(k), kLeastBeta);
  level_ = bound + beta_ * std::max(std::log(count / (allowed_per_day_ * days_)), 0.0);
}

Severity AlarmLevel::severity(double score) const {
  const double rarer = (score - level_) / beta_;
  if (rarer < std::log(10)) return Severity::kMinor;
  return rarer < std::log(1000) ? Severity::kMajor : Severity::kCritical;
}

void AlarmLevel::archive(Archive& archive) {
  archive.values(allowed_per_day_, days_, level_, beta_, alarms_);
  archive.array(maxima_);
}

bool ScoreClusters::ends(float score) {
  if (score > low) {
    maximum = open ? std::max(maximum, score) : score;
    open = true;
    quiet_rows = 0;
    return false;
  }
  if (!open || ++quiet_rows < gap_rows) return false;
  open = false;
  quiet_rows = 0;
  return true;
}

}  // namespace perfcast::measure
