#include "ai/gemm/cuda/half.h"

#include <gmock/gmock.h>

#include "ai/gemm/precision.h"

namespace perfcast::ai::gemm {
namespace {

TEST(Half, HasTheBitsOfEveryHalf) {
  EXPECT_EQ(half_bits(0), 0);
  EXPECT_EQ(half_bits(1), 0x3c00);
  EXPECT_EQ(half_bits(-2), 0xc000);
  EXPECT_EQ(half_bits(65504), 0x7bff);
  EXPECT_EQ(half_bits(0x1p-24), 1);
  for (int bits = 0; bits < 0x7c00; ++bits) {
    const int exponent = bits >> 10, mantissa = bits & 0x3ff;
    const double value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    ASSERT_EQ(half_bits(value), bits);
    ASSERT_EQ(rounded(static_cast<float>(value), Precision::kFp16), value) << bits;
    ASSERT_EQ(half_bits(-value), bits | 0x8000);
  }
}

}  // namespace
}  // namespace perfcast::ai::gemm
