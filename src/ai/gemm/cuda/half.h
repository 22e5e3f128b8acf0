#pragma once
// IEEE halves as the GPU stores them.

#include <cmath>
#include <cstdint>

namespace perfcast::ai::gemm {

// The 16 bits of a number that is a half already, as rounded(x, Precision::kFp16) gives it; |value| below 65536.
inline uint16_t half_bits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::abs(value);
  if (size < 0x1p-14) return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::ldexp(size, 24)));
  int exponent = 0;
  const double fraction = std::frexp(size, &exponent);  // [0.5, 1)
  const auto mantissa = static_cast<uint16_t>(std::ldexp(fraction, 11) - 1024);
  return static_cast<uint16_t>(sign | (exponent + 14) << 10 | mantissa);
}

}  // namespace perfcast::ai::gemm
