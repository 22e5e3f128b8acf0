#pragma once
// Is B slower than A? A sequential test of pairs of runs that may stop as soon as the answer is clear.
//
// In each pair one run of A and one of B follow each other, in an order that a coin decides. Where A and B are the
// same, swapping them changes nothing, so that the sign of a pair's log ratio is that coin, whatever the machine did
// meanwhile: drift, neighbours and clocks can make the test blind, not wrong. The statistic is Wilcoxon's signed rank
// (Biometrics Bulletin 1(6), 1945); its null distribution under such signs is exact. The pairs are looked at several
// times; the probability of an error is spent over the looks in proportion to the pairs (Lan and DeMets, Biometrika
// 70(3), 1983), by Bonferroni's inequality, so that all looks together err no more often than `error_ratio` says.
// Intervals are those ratios that the test at the same look does not reject, so that all of them hold together; they
// take the log ratios to be symmetric about the true one.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace perfcast {

// Two-sided probability of a signed-rank sum at least as far from its mean, zeros counting half to either side. Exact
// up to kExactPairs, by the normal limit beyond. 1 for none.
inline constexpr int64_t kExactPairs = 150;
double signed_rank_probability(std::span<const double> differences);

struct ShiftInterval {
  double estimate = 0;          // Hodges and Lehmann's: the median of the means of all pairs of differences
  double lower = 0, upper = 0;  // infinite where so few differences can't exclude anything
};
// The shifts that the two-sided test does not reject with this probability of an error.
ShiftInterval shift_interval(std::span<const double> differences, double error_ratio);

class PairedSequence {
 public:
  static constexpr int64_t kFewestPairs = 6;  // 2 / 2^6 is the first below 5%
  // `most_pairs`: as many as the budget holds, at least kFewestPairs.
  PairedSequence(double error_ratio, int64_t most_pairs);

  void add(double difference) { differences_.push_back(difference); }
  int64_t pairs() const { return static_cast<int64_t>(differences_.size()); }
  bool is_full() const { return pairs() >= most_pairs_; }
  // Whether the number of pairs is one at which one looks.
  bool is_look() const;

  struct Look {
    bool differs = false;    // the test rejects that A and B are the same
    double probability = 1;  // of such a difference where they are: of this look alone
    ShiftInterval interval;
  };
  // Spends what may be spent so far; `last`: all that is left. Once per number of pairs.
  Look look(bool last);

  const std::vector<int64_t>& looks() const { return looks_; }  // numbers of pairs, ascending

 private:
  double error_ratio_, spent_ = 0;
  int64_t most_pairs_;
  std::vector<int64_t> looks_;
  std::vector<double> differences_;
};

}  // namespace perfcast
