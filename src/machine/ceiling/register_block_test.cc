#include "machine/ceiling/register_block.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "base/unknown.h"
#include "machine/ceiling/cpu_isa.h"

namespace perfcast {
namespace {

// Small whole numbers: every sum is exact in float, whatever its order.
std::vector<float> integers(Random& random, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(static_cast<int>(random.below(17)) - 8);
  return values;
}

void expect_exact(const RegisterBlock& block, int64_t m, int64_t n, int64_t k, int threads, Random& random) {
  const auto a = integers(random, m * k), b = integers(random, k * n);
  std::vector<float> c(static_cast<size_t>(m * n), 1e9F);
  std::vector<PackedBlocks> packed;
  block_product_threads(block, m, n, k, a.data(), b.data(), c.data(), packed, threads);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        sum += static_cast<double>(a[static_cast<size_t>(i * k + l)]) *
               static_cast<double>(b[static_cast<size_t>(l * n + j)]);
      }
      ASSERT_EQ(c[static_cast<size_t>(i * n + j)], sum) << block.title << ' ' << m << ' ' << n << ' ' << k << " at "
                                                        << i << ',' << j << ", " << threads << " threads";
    }
  }
}

// A block of A is half of the second-level cache, whatever its size.
TEST(RegisterBlock, BlocksFollowTheCache) {
  const RegisterBlock wide = {"avx512", "", 12, 32, nullptr};
  const BlockSizes large = block_sizes(wide, 1 << 20);
  EXPECT_EQ(large.depth, 512);
  EXPECT_EQ(large.rows, 252);  // of 256 that fit
  EXPECT_EQ(large.columns, 1536);
  const BlockSizes small = block_sizes(wide, 256 << 10);
  EXPECT_EQ(small.depth, 256);
  EXPECT_EQ(small.rows, 120);
  EXPECT_EQ(small.columns, 3072);
  EXPECT_EQ(block_sizes(wide, kUnknown).rows, small.rows);
  EXPECT_EQ(block_sizes(wide, 1).rows, 12);  // never none
  EXPECT_EQ(block_sizes(wide, 1e12).depth, 512);
}

TEST(RegisterBlock, IsExactForAnyShape) {
  if (register_block_here() == nullptr) GTEST_SKIP() << "this CPU has no register block";
  for (const RegisterBlock& block : register_blocks()) {
    if (!cpu_has(block.isa)) continue;
    Random random(11);
    for (const int64_t m : {1, 5, 13}) {
      for (const int64_t n : {1, 15, 33}) {
        for (const int64_t k : {1, 2, 257}) expect_exact(block, m, n, k, 1, random);
      }
    }
    for (int i = 0; i < 40; ++i) {
      const auto side = [&random](uint64_t most) { return static_cast<int64_t>(1 + random.below(most)); };
      expect_exact(block, side(140), side(100), side(300), 1 + static_cast<int>(random.below(5)), random);
    }
    // Across the edges of all three blocks of the caches.
    expect_exact(block, 2, 3073, 3, 1, random);
    expect_exact(block, 121, 33, 513, 2, random);
  }
}

TEST(RegisterBlock, LeavesTheRestOfAWiderMatrixAlone) {
  const RegisterBlock* block = register_block_here();
  if (block == nullptr) GTEST_SKIP() << "this CPU has no register block";
  const std::vector<float> a(size_t{13} * 20, 1), b(size_t{20} * 40, 1);
  std::vector<float> c(size_t{13} * 50, 7);
  PackedBlocks packed;
  block_product(*block, 13, 33, 20, a.data(), 20, b.data(), 40, c.data(), 50, packed);
  for (size_t i = 0; i < 13; ++i) {
    for (size_t j = 0; j < 50; ++j) EXPECT_EQ(c[i * 50 + j], j < 33 ? 20 : 7) << i << ',' << j;
  }
}

}  // namespace
}  // namespace perfcast
