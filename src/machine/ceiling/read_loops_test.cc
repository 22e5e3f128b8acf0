#include "machine/ceiling/read_loops.h"

#include <gtest/gtest.h>

#include "machine/ceiling/aligned_array.h"

namespace perfcast {
namespace {

TEST(ReadLoops, ReadEveryWordEveryTime) {
  AlignedArray<uint64_t> array(4 * kReadStep);
  uint64_t all = 0;
  for (size_t i = 0; i < array.size(); ++i) {
    array[i] = (i + 1) * 0x9E3779B97F4A7C15U;
    all ^= array[i];
  }
  ASSERT_NE(all, 0U);
  ASSERT_FALSE(read_loops().empty());
  for (const ReadLoop& loop : read_loops()) {
    EXPECT_EQ(loop.run(array.data(), array.size(), 1), all) << loop.isa;
    EXPECT_EQ(loop.run(array.data(), array.size(), 2), 0U) << loop.isa;
    EXPECT_EQ(loop.run(array.data(), array.size(), 3), all) << loop.isa;
    EXPECT_EQ(loop.run(array.data(), kReadStep, 1) ^ loop.run(array.data() + kReadStep, 3 * kReadStep, 1), all);
  }
}

TEST(ReadLoops, LeaveAnArrayAsItIs) {
  AlignedArray<uint64_t> array(kReadStep);
  for (size_t i = 0; i < array.size(); ++i) array[i] = i;
  drop_from_caches(array.data(), array.size());
  for (size_t i = 0; i < array.size(); ++i) EXPECT_EQ(array[i], i);
}

}  // namespace
}  // namespace perfcast
