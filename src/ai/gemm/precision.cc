#include "ai/gemm/precision.h"

#include <bit>
#include <cmath>

namespace perfcast::ai::gemm {
namespace {

// To `bits` fraction bits, ties to even. Scaling by a power of two is exact; std::nearbyint follows the rounding mode
// of the process, which is to nearest.
double round_mantissa(double value, int bits) {
  if (value == 0) return value;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // [0.5, 1)
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits + 1)), exponent - bits - 1);
}

}  // namespace

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return "fp32";
    case Precision::kTf32:
      return "tf32";
    case Precision::kBf16:
      return "bf16";
    case Precision::kFp16:
      return "fp16";
    case Precision::kInt8:
      return "int8";
  }
  return "";
}

std::optional<Precision> precision_named(std::string_view name) {
  for (const Precision precision : precisions()) {
    if (name_of(precision) == name) return precision;
  }
  return std::nullopt;
}

const std::vector<Precision>& precisions() {
  static const std::vector<Precision> kAll = {Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16,
                                              Precision::kInt8};
  return kAll;
}

double input_bytes(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
    case Precision::kTf32:
      return 4;
    case Precision::kBf16:
    case Precision::kFp16:
      return 2;
    case Precision::kInt8:
      return 1;
  }
  return 4;
}

double sum_roundoff(Precision precision) { return precision == Precision::kInt8 ? 0 : 0x1p-24; }

uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

int8_t to_int8(float value) { return static_cast<int8_t>(std::nearbyint(127.0 * static_cast<double>(value))); }

double rounded(float value, Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return value;
    case Precision::kTf32:
      return round_mantissa(value, 10);
    case Precision::kBf16:
      return from_bf16(to_bf16(value));
    case Precision::kFp16: {
      // Below 2^-14 a half has fixed steps of 2^-24.
      if (std::abs(value) < 0x1p-14F)
        return std::ldexp(std::nearbyint(std::ldexp(static_cast<double>(value), 24)), -24);
      return round_mantissa(value, 10);
    }
    case Precision::kInt8:
      return to_int8(value);
  }
  return value;
}

double product_unit(Precision precision) { return precision == Precision::kInt8 ? 1.0 / (127.0 * 127.0) : 1.0; }

}  // namespace perfcast::ai::gemm
