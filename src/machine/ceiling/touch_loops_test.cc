#include "machine/ceiling/touch_loops.h"

#include <gtest/gtest.h>

#include <vector>

namespace perfcast {
namespace {

TEST(TouchLoops, TouchEveryFourthWord) {
  std::vector<uint32_t> words(4 * kTouchStep);
  for (size_t i = 0; i < words.size(); ++i) words[i] = i % 4 == 0 ? 3 : 1000;
  EXPECT_EQ(words.size() / kTouchApart, kTouchStep);
  EXPECT_EQ(read_fourths(words.data(), words.size(), 2), size_t{2} * 3 * kTouchStep);
  EXPECT_EQ(read_write_fourths(words.data(), words.size(), 2, 5), (3U + 5) * kTouchStep);
  write_fourths(words.data(), words.size(), 1, 7);
  for (size_t i = 0; i < words.size(); ++i) EXPECT_EQ(words[i], i % 4 == 0 ? 7U : 1000U);
}

TEST(TouchLoops, FollowAChain) {
  const std::vector<uint32_t> next = {2, 0, 3, 1};
  EXPECT_EQ(follow_chain(next.data(), 0, 1), 2U);
  EXPECT_EQ(follow_chain(next.data(), 0, 3), 1U);
  EXPECT_EQ(follow_chain(next.data(), 0, 4), 0U);
}

}  // namespace
}  // namespace perfcast
