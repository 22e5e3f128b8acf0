#include "measure/compare/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace perfcast::measure {
namespace {

TEST(CompareVerdict, FollowsFromTheInterval) {
  const auto verdict = [](double lower, double upper, double threshold) {
    return verdict_of(std::log(lower), std::log(upper), threshold);
  };
  EXPECT_EQ(verdict(1.001, 1.5, 0), CompareVerdict::kSlower);
  EXPECT_EQ(verdict(0.9, 0.999, 0), CompareVerdict::kFaster);
  EXPECT_EQ(verdict(0.992, 1.008, 0), CompareVerdict::kNoDifference);
  EXPECT_EQ(verdict(0.98, 1.008, 0), CompareVerdict::kUnclear);
  EXPECT_EQ(verdict(1.001, 1.015, 0.02), CompareVerdict::kBelowThreshold);
  EXPECT_EQ(verdict(1.001, 1.03, 0.02), CompareVerdict::kUnclear);
  EXPECT_EQ(verdict(1.021, 1.03, 0.02), CompareVerdict::kSlower);
  EXPECT_EQ(verdict(0.985, 1.019, 0.02), CompareVerdict::kNoDifference);
  EXPECT_EQ(verdict(0.999, 1.008, 0.005), CompareVerdict::kUnclear);  // beyond the threshold, perhaps
  EXPECT_EQ(verdict(0, std::numeric_limits<double>::infinity(), 0), CompareVerdict::kUnclear);
}

// Times within these bounds; instructions this many times as many, which repeat within `repeats` (a log ratio).
Comparison counted(double ratio, double repeats, double lower, double upper) {
  Comparison comparison;
  comparison.threshold_ratio = 0.01;
  comparison.lower = lower;
  comparison.upper = upper;
  comparison.significant = lower > 1 || upper < 1;
  comparison.counts = {{"instructions_count", 1e9, 1e9 * ratio, ratio, repeats, std::abs(std::log(ratio)) > 1e-4}};
  comparison.counts_repeat = true;
  return comparison;
}

TEST(CountsVerdict, DecidesWhatTimesLeaveOpen) {
  EXPECT_EQ(verdict_by_counts(counted(1.03, 0, 0.97, 1.06), true), CompareVerdict::kSlower);
  EXPECT_EQ(verdict_by_counts(counted(0.97, 0, 0.9, 1.06), true), CompareVerdict::kFaster);
  EXPECT_EQ(verdict_by_counts(counted(1, 0, 0.98, 1.025), false), CompareVerdict::kNoDifference);
  EXPECT_EQ(verdict_by_counts(counted(1, 0, 0.98, 1.06), false), CompareVerdict::kUnclear);  // more pairs may tell
  EXPECT_EQ(verdict_by_counts(counted(1, 0, 0.98, 1.05), true), CompareVerdict::kNoDifference);
}

TEST(CountsVerdict, DoesNotSpeakAgainstTimesOrBeyondWhatCountsTell) {
  EXPECT_EQ(verdict_by_counts(counted(1.03, 0, 0.9, 1.005), true), CompareVerdict::kUnclear);   // not that much slower
  EXPECT_EQ(verdict_by_counts(counted(0.97, 0, 1.001, 1.06), true), CompareVerdict::kUnclear);  // slower, by times
  EXPECT_EQ(verdict_by_counts(counted(1, 0, 0.8, 1.6), true), CompareVerdict::kUnclear);        // caches can do that
  EXPECT_EQ(verdict_by_counts(counted(1, 0, 1.002, 1.02), true), CompareVerdict::kUnclear);
  EXPECT_EQ(verdict_by_counts(counted(1.03, 0.01, 0.97, 1.06), true), CompareVerdict::kUnclear);  // 3 +- 3%
  Comparison once = counted(1.03, 0, 0.97, 1.06);
  once.counts_repeat = false;
  EXPECT_EQ(verdict_by_counts(once, true), CompareVerdict::kUnclear);
  Comparison other_work = counted(1, 0, 0.98, 1.02);
  other_work.counts.push_back({"loads_count", 1e8, 2e8, 2, 0, true});
  EXPECT_EQ(verdict_by_counts(other_work, true), CompareVerdict::kUnclear);
}

}  // namespace
}  // namespace perfcast::measure
