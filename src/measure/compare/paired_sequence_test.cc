#include "measure/compare/paired_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace perfcast::measure {
namespace {

using testing::ElementsAre;

// Share of all 2^n signs of the sizes whose sum of positive ranks (equal sizes share theirs) is at most that of
// `given`, or at least as far on the other side.
double probability_by_enumeration(const std::vector<double>& given) {
  const size_t n = given.size();
  std::vector<double> rank(n);
  for (size_t i = 0; i < n; ++i) {
    double below = 0, same = 0;
    for (const double other : given) {
      below += std::abs(other) < std::abs(given[i]) ? 1 : 0;
      same += std::abs(other) == std::abs(given[i]) ? 1 : 0;
    }
    rank[i] = below + (same + 1) / 2;
  }
  const double total = static_cast<double>(n * (n + 1)) / 2;
  double found = 0;
  for (size_t i = 0; i < n; ++i) found += given[i] > 0 ? rank[i] : 0;
  const double extreme = std::min(found, total - found);
  size_t as_far = 0;
  for (size_t signs = 0; signs < size_t{1} << n; ++signs) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += (signs >> i & 1) != 0 ? rank[i] : 0;
    as_far += sum <= extreme + 1e-9 || sum >= total - extreme - 1e-9 ? 1 : 0;
  }
  return std::min(1.0, static_cast<double>(as_far) / static_cast<double>(size_t{1} << n));
}

std::vector<double> moved(std::vector<double> differences, double shift) {
  for (double& difference : differences) difference -= shift;
  return differences;
}

// The interval is what the exact test leaves.
TEST(ShiftInterval, HoldsWhatTheTestDoesNotReject) {
  constexpr double kHair = 1e-7;
  for (int round = 0; round < 20; ++round) {
    Random random(static_cast<uint64_t>(round) + 5);
    std::vector<double> differences;
    differences.reserve(11);
    for (int i = 0; i < 11; ++i) differences.push_back(0.02 + 0.01 * random.normal());
    for (const double error : {0.05, 0.01, 0.3}) {
      const ShiftInterval interval = shift_interval(differences, error);
      EXPECT_LT(interval.lower, interval.estimate);
      EXPECT_LT(interval.estimate, interval.upper);
      EXPECT_LE(probability_by_enumeration(moved(differences, interval.lower - kHair)), error);
      EXPECT_GT(probability_by_enumeration(moved(differences, interval.lower + kHair)), error);
      EXPECT_GT(probability_by_enumeration(moved(differences, interval.upper - kHair)), error);
      EXPECT_LE(probability_by_enumeration(moved(differences, interval.upper + kHair)), error);
    }
  }
}

// Where 0 lies outside, the exact test rejects it, whatever is equal or 0.
TEST(ShiftInterval, EqualOnesAndZerosMakeItNoSurer) {
  int outside = 0;
  for (int round = 0; round < 400; ++round) {
    Random random(static_cast<uint64_t>(round) + 900);
    std::vector<double> differences;
    differences.reserve(9);
    for (int i = 0; i < 9; ++i) differences.push_back(static_cast<double>(random.below(5)) - 1);
    const ShiftInterval interval = shift_interval(differences, 0.05);
    if (interval.lower <= 0 && interval.upper >= 0) continue;
    ++outside;
    EXPECT_LE(probability_by_enumeration(differences), 0.05);
  }
  EXPECT_GT(outside, 10);
}

TEST(ShiftInterval, IsInfiniteWhereNothingCanBeExcluded) {
  EXPECT_TRUE(std::isinf(shift_interval({}, 0.05).upper));
  EXPECT_TRUE(std::isinf(shift_interval(std::vector<double>{1, 1.1, 1.2, 1.3, 1.4}, 0.05).upper));
  EXPECT_FALSE(std::isinf(shift_interval(std::vector<double>{1, 1.1, 1.2, 1.3, 1.4, 1.5}, 0.05).upper));
  EXPECT_EQ(fewest_pairs(0.05), 6);
  EXPECT_EQ(fewest_pairs(2.0 / 64), 6);
  EXPECT_EQ(fewest_pairs(0.01), 8);
}

TEST(ShiftInterval, TheLimitContinuesTheExactOne) {
  Random random(4);
  std::vector<double> differences;
  for (int64_t i = 0; i < kExactPairs; ++i) differences.push_back(random.normal());
  const ShiftInterval exact = shift_interval(differences, 0.01);
  differences.push_back(exact.estimate);
  const ShiftInterval limit = shift_interval(differences, 0.01);
  EXPECT_NEAR(limit.lower, exact.lower, 0.02 * (exact.upper - exact.lower));
  EXPECT_NEAR(limit.upper, exact.upper, 0.02 * (exact.upper - exact.lower));
}

TEST(PairedSequence, LooksAtGrowingNumbersOfPairs) {
  PairedSequence sequence(0.05);
  std::vector<int64_t> looks;
  for (int i = 0; i < 50; ++i) {
    if (sequence.add(i)) looks.push_back(sequence.pairs());
  }
  EXPECT_THAT(looks, ElementsAre(8, 12, 18, 27, 41));
}

TEST(PairedSequence, SpendsByTheBudget) {
  PairedSequence sequence(0.05);
  for (int i = 1; i <= 6; ++i) sequence.add(i);
  EXPECT_TRUE(std::isinf(PairedSequence(sequence).look(0.5).lower));  // 2.5% on 6 pairs
  EXPECT_GT(sequence.look(1).lower, 0);
  EXPECT_TRUE(std::isinf(sequence.look(1).lower));  // all is spent
}

bool excludes_none(const ShiftInterval& interval) { return interval.lower <= 0 && interval.upper >= 0; }

// Runs of one program on a machine whose speed wanders, where the second of a pair is slower, with outliers: however
// often one looks, no more than the stated share is called different.
TEST(PairedSequence, RarelyCallsTheSameDifferent) {
  constexpr int kTrials = 1000, kPairs = 60;
  int called = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Random random(static_cast<uint64_t>(trial) + 1);
    PairedSequence sequence(0.05);
    double drift = 0;
    bool differs = false;
    while (!differs && sequence.pairs() < kPairs) {
      const auto run = [&] {
        drift = 0.9 * drift + 0.01 * random.normal();
        return drift + 0.01 * random.normal() + (random.below(20) == 0 ? 0.3 * random.uniform() : 0);
      };
      const double first = run(), second = run() + 0.005;
      const bool looks = sequence.add(random.below(2) == 0 ? first - second : second - first);
      if (looks || sequence.pairs() == kPairs)
        differs = !excludes_none(sequence.look(static_cast<double>(sequence.pairs()) / kPairs));
    }
    called += differs ? 1 : 0;
  }
  EXPECT_LE(called, 0.05 * kTrials);
  EXPECT_GE(called, 0.005 * kTrials);  // it is no test that can't find anything
}

// Two per cent, in runs that spread by two per cent, within 28 pairs: a second each in a minute.
TEST(PairedSequence, FindsTwoPerCent) {
  constexpr int kTrials = 500, kPairs = 28;
  int found = 0, holds = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Random random(static_cast<uint64_t>(trial) + 77);
    PairedSequence sequence(0.05);
    ShiftInterval interval;
    bool is_found = false;
    while (sequence.pairs() < kPairs && !is_found) {
      const bool looks = sequence.add(0.02 + 0.02 * random.normal() - 0.02 * random.normal());
      if (!looks && sequence.pairs() < kPairs) continue;
      interval = sequence.look(static_cast<double>(sequence.pairs()) / kPairs);
      is_found = interval.lower > 0;
    }
    found += is_found ? 1 : 0;
    holds += interval.lower <= 0.02 && interval.upper >= 0.02 ? 1 : 0;
  }
  EXPECT_GE(found, 0.85 * kTrials);
  EXPECT_GE(holds, 0.95 * kTrials);
}

}  // namespace
}  // namespace perfcast::measure
