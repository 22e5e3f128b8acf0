#include "studies/watch/peak_level.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace perfcast::measure::watch_study {
namespace {

constexpr size_t kMost = 64;        // largest scores that are used
constexpr size_t kUsed = 24;        // of them, in a fit
constexpr double kLeastBeta = 0.7;  // nats; were surprises exact, 1

}  // namespace

double peak_level(std::vector<float> maxima, double days, double allowed_per_day) {
  std::sort(maxima.begin(), maxima.end(), std::greater<>());
  if (maxima.size() > kMost) maxima.resize(kMost);
  if (maxima.empty()) return 12;
  // Of some forty clusters the upper half or less: what is common says little of what is rare.
  const size_t k = std::clamp<size_t>(maxima.size() / 2, 1, kUsed);
  const auto count = static_cast<double>(k);
  const auto bound = static_cast<double>(k < maxima.size() ? maxima[k] : maxima.back());
  // By the median, as few moments far out are to raise it little.
  const double beta = std::max((static_cast<double>(maxima[k / 2]) - bound) / std::log(2.0), kLeastBeta);
  return bound + beta * std::max(std::log(count / (allowed_per_day * std::max(days, 1e-6))), 0.0);
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

}  // namespace perfcast::measure::watch_study
