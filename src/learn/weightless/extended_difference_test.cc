#include "learn/weightless/extended_difference.h"

#include <gtest/gtest.h>

#include <bit>

#include "base/random.h"

namespace perfcast {
namespace {

std::vector<float> random_table(size_t entries, Random& random) {
  std::vector<float> table(entries);
  for (float& entry : table) entry = static_cast<float>(random.uniform(-1, 1));
  return table;
}

TEST(ExtendedDifference, OfOneBitIsTheDifference) {
  const std::vector<float> table = {0.25f, 1};
  std::vector<float> found(2);
  extended_differences(table, 1, found);
  EXPECT_FLOAT_EQ(found[0], 0.5f * 0.75f);
  EXPECT_FLOAT_EQ(found[1], 0.5f * 0.75f);
}

TEST(ExtendedDifference, OfTwoBitsByHand) {
  // By bit 0 at address 0: 0.375 ((t1 - t0) + (t3 - t2) / 3).
  const std::vector<float> table = {0, 1, 0, -1};
  std::vector<float> found(8);
  extended_differences(table, 2, found);
  EXPECT_NEAR(found[0], 0.375 * (1 - 1.0 / 3), 1e-7);
  EXPECT_NEAR(found[2], 0.375 * (-1 + 1.0 / 3), 1e-7);
}

TEST(ExtendedDifference, ButterfliesAreTheSum) {
  Random random(1);
  for (size_t n = 1; n <= kMostLutInputs; ++n) {
    const size_t entries = size_t{1} << n;
    const auto table = random_table(entries, random);
    std::vector<float> all(n * entries), one(n);
    extended_differences(table, n, all);
    for (size_t address = 0; address < entries; ++address) {
      extended_differences_by_sum(table, n, address, one);
      for (size_t l = 0; l < n; ++l) EXPECT_NEAR(all[l * entries + address], one[l], 1e-6) << n << " " << address;
    }
  }
}

TEST(WalshHadamard, KeepsTheSumOfSquares) {
  Random random(2);
  auto values = random_table(64, random);
  double before = 0, after = 0;
  for (const float value : values) before += static_cast<double>(value) * static_cast<double>(value);
  const auto kept = values;
  walsh_hadamard(values);
  for (const float value : values) after += static_cast<double>(value) * static_cast<double>(value);
  EXPECT_NEAR(after, 64 * before, 1e-3);
  walsh_hadamard(values);
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i] / 64, kept[i], 1e-5);
}

TEST(WalshHadamard, KnowsAParity) {
  std::vector<float> parity(8);
  for (size_t k = 0; k < 8; ++k) parity[k] = std::popcount(k) % 2 == 0 ? 1.0f : -1.0f;
  walsh_hadamard(parity);
  EXPECT_EQ(parity, (std::vector<float>{0, 0, 0, 0, 0, 0, 0, 8}));
}

}  // namespace
}  // namespace perfcast
