#pragma once
// Is B slower than A? A sequential test of pairs of runs that may stop as soon as the answer is clear.
//
// In each pair one run of A and one of B follow each other, in an order that a coin decides. Where A and B are the
// same, swapping them changes nothing, so that the sign of a pair's log ratio is that coin, whatever the machine did
// meanwhile: drift, neighbours and clocks can make the test blind, not wrong. The statistic is Wilcoxon's signed rank
// (Biometrics Bulletin 1(6), 1945); its null distribution under such signs is exact. The pairs are looked at several
// times; the probability of an error is spent over the looks in proportion to the budget used (Lan and DeMets,
// Biometrika 70(3), 1983), by Bonferroni's inequality, so that all looks together err no more often than `error_ratio`
// says: what is used of a budget does not depend on the coins. Intervals are those ratios that the test at the same
// look does not reject, so that all of them hold together; they take the log ratios to be symmetric about the true one.
// Equal differences and zeros make them wider, not wrong.

#include <cstdint>
#include <span>
#include <vector>

namespace perfcast::measure {

struct ShiftInterval {
  double estimate = 0;          // Hodges and Lehmann's: the median of the means of all pairs of differences
  double lower = 0, upper = 0;  // infinite where so few differences can't exclude anything
};
// The shifts that the two-sided test does not reject with this probability of an error. The test's distribution is
// exact up to kExactPairs, the normal limit's beyond.
inline constexpr int64_t kExactPairs = 150;
ShiftInterval shift_interval(std::span<const double> differences, double error_ratio);

// Below so many pairs nothing can be told: 2 / 2^n of all signs is the least probability of a two-sided test.
int64_t fewest_pairs(double error_ratio);

class PairedSequence {
 public:
  explicit PairedSequence(double error_ratio) : error_ratio_(error_ratio) {}

  // Whether one looks now: after 8 pairs, and each time that they have grown by a half.
  bool add(double difference);
  int64_t pairs() const { return static_cast<int64_t>(differences_.size()); }

  // Spends what may be spent where so much of the budget is used, 0 to 1.
  ShiftInterval look(double used_ratio);

 private:
  double error_ratio_, spent_ = 0, next_look_ = 8;
  std::vector<double> differences_;
};

}  // namespace perfcast::measure
