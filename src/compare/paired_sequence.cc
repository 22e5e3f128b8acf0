#include "compare/paired_sequence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/statistics.h"

namespace perfcast {
namespace {

constexpr int64_t kFirstLook = 8;
constexpr double kGrowth = 1.5;  // from a look to the next

// Probability that the signed-rank sum of n pairs is at most w, w from 0 to n (n + 1) / 2: each rank counts or doesn't.
std::vector<double> cumulative(int64_t n) {
  const auto most = static_cast<size_t>(n * (n + 1) / 2);
  std::vector<double> ways(most + 1, 0);
  ways[0] = 1;
  size_t reached = 0;
  for (int64_t rank = 1; rank <= n; ++rank) {
    reached += static_cast<size_t>(rank);
    for (size_t w = reached + 1; w-- > 0;) {
      const double with = w >= static_cast<size_t>(rank) ? ways[w - static_cast<size_t>(rank)] : 0;
      ways[w] = (ways[w] + with) / 2;
    }
  }
  std::partial_sum(ways.begin(), ways.end(), ways.begin());
  return ways;
}

double normal_below(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

double mean_of(double n) { return n * (n + 1) / 4; }
double deviation_of(double n) { return std::sqrt(n * (n + 1) * (2 * n + 1) / 24); }

// The largest w with P(W <= w) <= tail; -1 where there is none.
int64_t critical_sum(int64_t n, double tail) {
  if (n <= kExactPairs) {
    const std::vector<double> below = cumulative(n);
    return std::upper_bound(below.begin(), below.end(), tail * (1 + 1e-12)) - below.begin() - 1;
  }
  const auto count = static_cast<double>(n);
  // Bisection of the normal limit, with its correction for whole numbers.
  int64_t low = -1, high = n * (n + 1) / 4;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    const double below = normal_below((static_cast<double>(middle) + 0.5 - mean_of(count)) / deviation_of(count));
    (below <= tail ? low : high) = middle;
  }
  return low;
}

}  // namespace

double signed_rank_probability(std::span<const double> differences) {
  const auto n = static_cast<int64_t>(differences.size());
  if (n == 0) return 1;
  std::vector<size_t> order(differences.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return std::abs(differences[a]) < std::abs(differences[b]); });
  // Equal sizes share their mean rank; the sum of the positive ones is then rounded against finding a difference.
  double sum = 0;
  for (size_t i = 0; i < order.size();) {
    size_t j = i;
    while (j < order.size() && std::abs(differences[order[j]]) == std::abs(differences[order[i]])) ++j;
    const double rank = (static_cast<double>(i + j) + 1) / 2;
    for (; i < j; ++i) {
      const double difference = differences[order[i]];
      sum += difference > 0 ? rank : difference == 0 ? rank / 2 : 0;
    }
  }
  const auto count = static_cast<double>(n);
  const double nearer = std::ceil(std::min(sum, count * (count + 1) / 2 - sum));
  if (n > kExactPairs) return std::min(1.0, 2 * normal_below((nearer + 0.5 - mean_of(count)) / deviation_of(count)));
  return std::min(1.0, 2 * cumulative(n)[static_cast<size_t>(nearer)]);
}

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

PairedSequence::PairedSequence(double error_ratio, int64_t most_pairs)
    : error_ratio_(error_ratio), most_pairs_(std::max(most_pairs, kFewestPairs)) {
  double next = kFirstLook;
  while (std::llround(next) < most_pairs_) {
    looks_.push_back(std::llround(next));
    next *= kGrowth;
  }
  // A look just before the last tells nothing that the last doesn't.
  while (!looks_.empty() && static_cast<double>(most_pairs_) < 1.2 * static_cast<double>(looks_.back()))
    looks_.pop_back();
  looks_.push_back(most_pairs_);
}

bool PairedSequence::is_look() const { return std::binary_search(looks_.begin(), looks_.end(), pairs()); }

PairedSequence::Look PairedSequence::look(bool last) {
  const double share = std::min(1.0, static_cast<double>(pairs()) / static_cast<double>(most_pairs_));
  const double may_be_spent = last ? error_ratio_ : error_ratio_ * share;
  const double now = may_be_spent - spent_;
  spent_ = may_be_spent;
  Look result;
  result.probability = signed_rank_probability(differences_);
  result.differs = result.probability <= now;
  result.interval = shift_interval(differences_, now);
  return result;
}

}  // namespace perfcast
