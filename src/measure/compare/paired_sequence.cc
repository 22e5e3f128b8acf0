#include "measure/compare/paired_sequence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/statistics.h"

namespace perfcast::measure {
namespace {

constexpr double kGrowth = 1.5;  // from a look to the next

// Probability that the signed-rank sum of n pairs is at most w, w from 0 to n (n + 1) / 2: each rank counts or doesn't.
std::vector<double> cumulative(int64_t n) {
  std::vector<double> ways(static_cast<size_t>(n * (n + 1) / 2) + 1, 0);
  ways[0] = 1;
  size_t reached = 0;
  for (int64_t rank = 1; rank <= n; ++rank) {
    const auto step = static_cast<size_t>(rank);
    reached += step;
    for (size_t w = reached + 1; w-- > 0;) ways[w] = (ways[w] + (w >= step ? ways[w - step] : 0)) / 2;
  }
  std::partial_sum(ways.begin(), ways.end(), ways.begin());
  return ways;
}

double normal_below(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

// The largest w with P(W <= w) <= tail; -1 where there is none.
int64_t critical_sum(int64_t n, double tail) {
  if (n <= kExactPairs) {
    const std::vector<double> below = cumulative(n);
    return std::upper_bound(below.begin(), below.end(), tail * (1 + 1e-12)) - below.begin() - 1;
  }
  const auto count = static_cast<double>(n);
  const double mean = count * (count + 1) / 4, deviation = std::sqrt(count * (count + 1) * (2 * count + 1) / 24);
  // Bisection, with the limit's correction for whole numbers.
  int64_t low = -1, high = n * (n + 1) / 4;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (normal_below((static_cast<double>(middle) + 0.5 - mean) / deviation) <= tail ? low : high) = middle;
  }
  return low;
}

}  // namespace

ShiftInterval shift_interval(std::span<const double> differences, double error_ratio) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (differences.empty()) return {0, -kInfinite, kInfinite};
  std::vector<double> means;  // Walsh averages: the signed-rank sum counts those above 0
  means.reserve(differences.size() * (differences.size() + 1) / 2);
  for (size_t i = 0; i < differences.size(); ++i) {
    for (size_t j = i; j < differences.size(); ++j) means.push_back((differences[i] + differences[j]) / 2);
  }
  std::sort(means.begin(), means.end());
  ShiftInterval interval{median(means), -kInfinite, kInfinite};
  const int64_t critical = critical_sum(static_cast<int64_t>(differences.size()), error_ratio / 2);
  if (critical < 0) return interval;
  interval.lower = means[static_cast<size_t>(critical)];
  interval.upper = means[means.size() - 1 - static_cast<size_t>(critical)];
  return interval;
}

int64_t fewest_pairs(double error_ratio) {
  return std::max<int64_t>(2, std::llround(std::ceil(std::log2(2 / error_ratio))));
}

bool PairedSequence::add(double difference) {
  differences_.push_back(difference);
  if (pairs() < std::llround(next_look_)) return false;
  next_look_ *= kGrowth;
  return true;
}

ShiftInterval PairedSequence::look(double used_ratio) {
  const double may_be_spent = std::max(spent_, error_ratio_ * std::clamp(used_ratio, 0.0, 1.0));
  const double now = may_be_spent - spent_;
  spent_ = may_be_spent;
  return shift_interval(differences_, now);
}

}  // namespace perfcast::measure
