#include "ai/serving/block_cache.h"

#include <gtest/gtest.h>

#include <vector>

namespace perfcast::ai {
namespace {

const std::vector<uint64_t> kPrefix = {11, 12, 13};

TEST(BlockCache, GivesWhatIsFreeAndNothingElse) {
  BlockCache cache(4, 1, true);
  EXPECT_TRUE(cache.take(3));
  EXPECT_FALSE(cache.take(2));
  EXPECT_EQ(cache.used_blocks(), 3);
  EXPECT_TRUE(cache.take(1));
  cache.give_back(4);
  EXPECT_EQ(cache.available_blocks(), 4);
}

TEST(BlockCache, KeepsThePrefixOfAnEndedRequestUntilItsBlocksAreNeeded) {
  BlockCache cache(5, 1, true);
  ASSERT_TRUE(cache.take(3));
  cache.share(kPrefix, 0);
  cache.release(kPrefix, 3);
  EXPECT_EQ(cache.used_blocks(), 0);
  EXPECT_EQ(cache.matching(kPrefix), 3);
  ASSERT_TRUE(cache.take(3));  // two are free; the last block of the prefix goes first
  EXPECT_EQ(cache.matching(kPrefix), 2);
  cache.hold(kPrefix, 2);
  EXPECT_EQ(cache.available_blocks(), 0);
  EXPECT_FALSE(cache.take(1));
}

TEST(BlockCache, CountsABlockThatTwoComputedOnce) {
  BlockCache cache(6, 1, true);
  ASSERT_TRUE(cache.take(3));
  ASSERT_TRUE(cache.take(3));
  cache.share(kPrefix, 0);
  EXPECT_EQ(cache.used_blocks(), 6);
  cache.share(kPrefix, 0);
  EXPECT_EQ(cache.used_blocks(), 3);
  cache.release(kPrefix, 3);
  EXPECT_EQ(cache.used_blocks(), 3);
  cache.release(kPrefix, 3);
  EXPECT_EQ(cache.used_blocks(), 0);
  EXPECT_EQ(cache.available_blocks(), 6);
}

TEST(BlockCache, SharesNothingWhereItMayNot) {
  BlockCache cache(6, 1, false);
  EXPECT_EQ(cache.matching(kPrefix), 0);
}

}  // namespace
}  // namespace perfcast::ai
