#include "ai/load/peak_search.h"

#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

PeakSearch searched(double first, double truth, int most_trials = 40) {
  PeakSearch search(first, 0.02, most_trials);
  while (const auto rate = search.next()) search.tell(*rate <= truth);
  return search;
}

TEST(PeakSearch, FindsTheRateFromBelowAndAbove) {
  for (const double first : {1.0, 100.0, 900.0, 5000.0}) {
    const PeakSearch search = searched(first, 1000);
    ASSERT_TRUE(search.best());
    ASSERT_TRUE(search.bound());
    EXPECT_LE(*search.best(), 1000);
    EXPECT_GT(*search.bound(), 1000);
    EXPECT_LE(*search.bound() / *search.best(), 1.02);
    EXPECT_LT(search.trials(), 25);
  }
}

TEST(PeakSearch, StopsWhereNothingIsValid) {
  const PeakSearch search = searched(100, 0, 10);
  EXPECT_FALSE(search.best());
  EXPECT_EQ(search.trials(), 10);
}

TEST(PeakSearch, TriesTheFirstRateFirst) {
  PeakSearch search(128, 0.02, 10);
  EXPECT_EQ(search.next(), 128);
  search.tell(true);
  EXPECT_EQ(search.next(), 256);
  search.tell(false);
  EXPECT_NEAR(*search.next(), 181.02, 0.01);
}

}  // namespace
}  // namespace perfcast::ai
