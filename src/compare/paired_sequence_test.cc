#include "compare/paired_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace perfcast {
namespace {

using testing::ElementsAre;

// By all 2^n signs: the distribution of the sum of the positive ranks under a coin for each sign.
double probability_by_enumeration(const std::vector<double>& differences) {
  const size_t n = differences.size();
  std::vector<double> sorted;
  for (const double difference : differences) sorted.push_back(std::abs(difference));
  std::sort(sorted.begin(), sorted.end());
  const auto rank = [&](double difference) {
    return std::lower_bound(sorted.begin(), sorted.end(), std::abs(difference)) - sorted.begin() + 1;
  };
  double found = 0;
  for (const double difference : differences) found += difference > 0 ? static_cast<double>(rank(difference)) : 0;
  const double total = static_cast<double>(n * (n + 1)) / 2;
  const double extreme = std::min(found, total - found);
  size_t as_far = 0;
  for (size_t signs = 0; signs < size_t{1} << n; ++signs) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += (signs >> i & 1) != 0 ? static_cast<double>(i + 1) : 0;
    as_far += sum <= extreme || sum >= total - extreme ? 1 : 0;
  }
  return std::min(1.0, static_cast<double>(as_far) / static_cast<double>(size_t{1} << n));
}

TEST(SignedRank, IsExact) {
  EXPECT_EQ(signed_rank_probability({}), 1);
  EXPECT_EQ(signed_rank_probability(std::vector<double>{1, 2, 3, 4, 5, 6}), 2.0 / 64);
  EXPECT_EQ(signed_rank_probability(std::vector<double>{-1, -2, -3, -4, -5, -6}), 2.0 / 64);
  EXPECT_EQ(signed_rank_probability(std::vector<double>{-1, 2, 3, 4, 5, 6}), 4.0 / 64);
  EXPECT_EQ(signed_rank_probability(std::vector<double>{0, 0, 0}), 1);
  Random random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> differences;
    for (int i = 0; i < 11; ++i) differences.push_back(random.normal() + 0.4);
    EXPECT_NEAR(signed_rank_probability(differences), probability_by_enumeration(differences), 1e-12);
  }
}

TEST(SignedRank, TheLimitContinuesTheExactOne) {
  Random random(4);
  std::vector<double> differences;
  for (int64_t i = 0; i < kExactPairs; ++i) differences.push_back(random.normal() + 0.15);
  const double exact = signed_rank_probability(differences);
  differences.push_back(1e-9);
  EXPECT_NEAR(signed_rank_probability(differences) / exact, 1, 0.1);
}

TEST(ShiftInterval, HoldsWhatTheTestDoesNotReject) {
  Random random(5);
  std::vector<double> differences;
  for (int i = 0; i < 12; ++i) differences.push_back(0.02 + 0.01 * random.normal());
  const ShiftInterval interval = shift_interval(differences, 0.05);
  EXPECT_LT(interval.lower, interval.estimate);
  EXPECT_LT(interval.estimate, interval.upper);
  const auto rejected = [&](double shift) {
    std::vector<double> moved;
    for (const double difference : differences) moved.push_back(difference - shift);
    return signed_rank_probability(moved) <= 0.05;
  };
  constexpr double kHair = 1e-9;
  EXPECT_TRUE(rejected(interval.lower - kHair));
  EXPECT_FALSE(rejected(interval.lower + kHair));
  EXPECT_FALSE(rejected(interval.upper - kHair));
  EXPECT_TRUE(rejected(interval.upper + kHair));
}

TEST(ShiftInterval, IsInfiniteWhereNothingCanBeExcluded) {
  EXPECT_TRUE(std::isinf(shift_interval(std::vector<double>{1, 1.1, 1.2, 1.3, 1.4}, 0.05).upper));
  EXPECT_FALSE(std::isinf(shift_interval(std::vector<double>{1, 1.1, 1.2, 1.3, 1.4, 1.5}, 0.05).upper));
}

TEST(PairedSequence, LooksAtGrowingNumbersOfPairs) {
  EXPECT_THAT(PairedSequence(0.05, 28).looks(), ElementsAre(8, 12, 18, 28));
  EXPECT_THAT(PairedSequence(0.05, 1).looks(), ElementsAre(6));
  EXPECT_THAT(PairedSequence(0.05, 9).looks(), ElementsAre(9));
  EXPECT_EQ(PairedSequence(0.05, 1000).looks().back(), 1000);
}

// Runs of one program on a machine whose speed wanders, where the second of a pair is slower, with outliers: however
// often one looks, no more than the stated share is called different.
TEST(PairedSequence, RarelyCallsTheSameDifferent) {
  constexpr int kTrials = 2000;
  int called = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Random random(static_cast<uint64_t>(trial) + 1);
    PairedSequence sequence(0.05, 60);
    double drift = 0;
    bool differs = false;
    while (!differs && !sequence.is_full()) {
      const auto run = [&] {
        drift = 0.9 * drift + 0.01 * random.normal();
        return drift + 0.01 * random.normal() + (random.below(20) == 0 ? 0.3 * random.uniform() : 0);
      };
      const double first = run(), second = run() + 0.005;
      sequence.add(random.below(2) == 0 ? first - second : second - first);
      if (sequence.is_look()) differs = sequence.look(sequence.is_full()).differs;
    }
    called += differs ? 1 : 0;
  }
  EXPECT_LE(called, 0.05 * kTrials);
  EXPECT_GE(called, 0.01 * kTrials);  // it is no test that can't find anything
}

// Two per cent, in runs that spread by two per cent, within 28 pairs: a second each in a minute.
TEST(PairedSequence, FindsTwoPerCent) {
  constexpr int kTrials = 500;
  int found = 0, holds = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Random random(static_cast<uint64_t>(trial) + 77);
    PairedSequence sequence(0.05, 28);
    PairedSequence::Look look;
    while (!sequence.is_full() && !look.differs) {
      sequence.add(0.02 + 0.02 * random.normal() - 0.02 * random.normal());
      if (sequence.is_look()) look = sequence.look(sequence.is_full());
    }
    found += look.differs && look.interval.lower > 0 ? 1 : 0;
    holds += look.interval.lower <= 0.02 && look.interval.upper >= 0.02 ? 1 : 0;
  }
  EXPECT_GE(found, 0.85 * kTrials);
  EXPECT_GE(holds, 0.95 * kTrials);
}

TEST(PairedSequence, WhatWasNotSpentIsSpentAtTheEnd) {
  PairedSequence sequence(0.05, 100);
  for (int i = 1; i <= 6; ++i) sequence.add(i);
  EXPECT_FALSE(PairedSequence(sequence).look(false).differs);  // 3 thousandths may be spent on 6 of 100
  EXPECT_TRUE(sequence.look(true).differs);
}

}  // namespace
}  // namespace perfcast
