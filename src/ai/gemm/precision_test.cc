#include "ai/gemm/precision.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/random.h"

namespace perfcast::ai::gemm {
namespace {

TEST(Precision, NamesGoBothWays) {
  for (const Precision precision : precisions()) EXPECT_EQ(precision_named(name_of(precision)), precision);
  EXPECT_FALSE(precision_named("fp64"));
}

TEST(Precision, RoundsBf16ToNearestEven) {
  EXPECT_EQ(to_bf16(1.0F), 0x3f80);
  EXPECT_EQ(from_bf16(0xbf00), -0.5F);
  // Halfway between two: to the even one; a little above: up.
  EXPECT_EQ(to_bf16(1.0F + 0x1p-8F), 0x3f80);
  EXPECT_EQ(to_bf16(1.0F + 0x1p-8F + 0x1p-20F), 0x3f81);
  EXPECT_EQ(to_bf16(1.0F + 3 * 0x1p-8F), 0x3f82);
  EXPECT_EQ(rounded(1.0F + 0x1p-8F, Precision::kBf16), 1.0);
}

TEST(Precision, RoundsHalfAndTf32To11Bits) {
  for (const Precision precision : {Precision::kFp16, Precision::kTf32}) {
    EXPECT_EQ(rounded(1.0F + 0x1p-11F, precision), 1.0);
    EXPECT_EQ(rounded(1.0F + 0x1p-10F, precision), 1.0 + 0x1p-10);
    EXPECT_EQ(rounded(-0.3F, precision), -1229 * 0x1p-12);
  }
  EXPECT_EQ(rounded(0x1p-25F, Precision::kFp16), 0);  // half of the smallest, to even
  EXPECT_EQ(rounded(3 * 0x1p-25F, Precision::kFp16), 0x1p-23);
  EXPECT_EQ(rounded(0x1p-25F, Precision::kTf32), 0x1p-25);
}

TEST(Precision, QuantisesToBytes) {
  EXPECT_EQ(to_int8(-1), -127);
  EXPECT_EQ(to_int8(1), 127);
  EXPECT_EQ(to_int8(0.5F), 64);  // 63.5 to even
  EXPECT_EQ(rounded(0.1F, Precision::kInt8), 13);
}

TEST(Precision, RoundingStaysWithinHalfAUnit) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    const auto value = static_cast<float>(random.uniform(-1, 1));
    EXPECT_LE(std::abs(rounded(value, Precision::kBf16) - value), std::abs(value) * 0x1p-8);
    EXPECT_LE(std::abs(rounded(value, Precision::kFp16) - value), std::max(std::abs(value) * 0x1p-11, 0x1p-25));
    EXPECT_LE(std::abs(rounded(value, Precision::kInt8) * std::sqrt(product_unit(Precision::kInt8)) - value),
              0.5 / 127 + 1e-9);
    EXPECT_EQ(rounded(value, Precision::kFp32), value);
  }
}

}  // namespace
}  // namespace perfcast::ai::gemm
