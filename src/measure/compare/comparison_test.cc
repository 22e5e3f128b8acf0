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

}  // namespace
}  // namespace perfcast::measure
