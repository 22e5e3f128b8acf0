#include "measure/compare/bisection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <set>

namespace perfcast::measure {
namespace {

using testing::ElementsAre;

TEST(Bisection, FindsEachFirstBadOneInAsFewStepsAsHalvingTakes) {
  for (size_t count = 1; count <= 40; ++count) {
    for (size_t bad = 0; bad < count; ++bad) {
      const auto found = bisect(count, [&](size_t i) -> Result<BisectionVerdict> {
        return i >= bad ? BisectionVerdict::kBad : BisectionVerdict::kGood;
      });
      ASSERT_TRUE(found);
      EXPECT_EQ(found->first, bad);
      EXPECT_EQ(found->last, bad);
      EXPECT_LE(found->judged.size(), static_cast<size_t>(std::bit_width(count - 1)));
    }
  }
}

TEST(Bisection, WhatCannotBeToldLeavesARangeThatHoldsIt) {
  // Each set of skipped ones among seven: nothing is asked twice, the range holds the first bad one, and at its inside
  // are skipped ones alone.
  constexpr size_t kCount = 7;
  for (unsigned skipped = 0; skipped < 1U << kCount; ++skipped) {
    for (size_t bad = 0; bad < kCount; ++bad) {
      std::set<size_t> asked;
      const auto found = bisect(kCount, [&](size_t i) -> Result<BisectionVerdict> {
        EXPECT_TRUE(asked.insert(i).second);
        if ((skipped >> i & 1U) != 0) return BisectionVerdict::kSkipped;
        return i >= bad ? BisectionVerdict::kBad : BisectionVerdict::kGood;
      });
      ASSERT_TRUE(found);
      EXPECT_LE(found->first, bad);
      EXPECT_GE(found->last, bad);
      for (size_t i = found->first; i < found->last; ++i) EXPECT_NE(skipped >> i & 1U, 0U);
    }
  }
}

TEST(Bisection, AsksInAStatedOrderAndStopsAtErrors) {
  const auto found = bisect(8, [](size_t) -> Result<BisectionVerdict> { return BisectionVerdict::kGood; });
  ASSERT_TRUE(found);
  EXPECT_THAT(found->judged, ElementsAre(3, 5, 6));
  EXPECT_EQ(found->first, 7u);
  const auto failed = bisect(8, [](size_t) -> Result<BisectionVerdict> { return Error{"no", "no", "", ""}; });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, "no");
}

}  // namespace
}  // namespace perfcast::measure
