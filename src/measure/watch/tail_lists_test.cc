#include "measure/watch/tail_lists.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace perfcast::measure {
namespace {

// Blocks whose largest values are 1, 2, ..., `blocks`.
TailLists rising(int blocks, TailLists::Beta beta = TailLists::Beta::kKnown) {
  TailLists lists(beta);
  lists.reset(1, 1);
  float nats = 0;
  for (int i = 1; i <= blocks; ++i) {
    const auto value = static_cast<float>(i);
    lists.look(0, 1, &value, &nats);
    lists.end_block();
  }
  return lists;
}

TEST(TailLists, ExtrapolateTheLargestOfTheirBlocks) {
  const TailLists lists = rising(40);
  EXPECT_EQ(lists.bound(0, 0), 25);  // the 16th largest
  EXPECT_NEAR(static_cast<double>(lists.nats(0, 0, 60)), std::log(40.0 / 16) + 35 * std::log(2.0) / 7, 1e-5);
  EXPECT_EQ(lists.nats(0, 0, 25), 0);
}

TEST(TailLists, AreLessSureWhereBetaIsKnownFromFew) {
  const TailLists lists = rising(40, TailLists::Beta::kFromFew);
  const double steps = 35 * std::log(2.0) / 7;
  EXPECT_NEAR(static_cast<double>(lists.nats(0, 0, 60)), std::log(40.0 / 16) + 8 * std::log1p(steps / 8), 1e-5);
  EXPECT_LT(lists.nats(0, 0, 60), rising(40).nats(0, 0, 60));
}

TEST(TailLists, KnowWhatWasAsLargeBefore) {
  // A quarter of its excess over 25 less is 29.5: 30, 31, ... 40 were there, eleven, of which one doesn't count.
  EXPECT_NEAR(static_cast<double>(rising(40).nats(0, 0, 31)), std::log(40.0 / 11), 1e-6);
}

TEST(TailLists, SayNothingOfFewBlocksNorOfAbsentValues) {
  EXPECT_EQ(rising(2).nats(0, 0, 1000), 0);
  EXPECT_GT(rising(3).nats(0, 0, 1000), 0);
  TailLists lists = rising(10);
  const float absent = std::numeric_limits<float>::quiet_NaN();
  float nats = 0;
  lists.look(0, 1, &absent, &nats);
  EXPECT_EQ(nats, 0);
  EXPECT_EQ(lists.nats(0, 0, absent), 0);
}

TEST(TailLists, MoveWhereWhatLastsIsUsual) {
  TailLists lists = rising(40);
  lists.move_bound(0, 0, 100);
  EXPECT_EQ(lists.bound(0, 0), 100);
  EXPECT_EQ(lists.nats(0, 0, 99), 0);
  EXPECT_NEAR(static_cast<double>(lists.nats(0, 0, 135)), std::log(40.0 / 16) + 35 * std::log(2.0) / 7, 1e-5);
  lists.move_bound(0, 0, 50);  // never back
  EXPECT_EQ(lists.bound(0, 0), 100);
}

}  // namespace
}  // namespace perfcast::measure
