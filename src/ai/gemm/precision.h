#pragma once
// Number formats of the inputs of a product, and how float inputs become them. Every rung of one precision gets the
// same rounded inputs, so that one reference judges them all.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfcast::ai::gemm {

enum class Precision {
  kFp32,  // float in, float out
  kTf32,  // float with 10 mantissa bits in, float out
  kBf16,  // bfloat16 in, float out
  kFp16,  // IEEE half in, float out
  kInt8,  // integers in [-127, 127] in, 32-bit integers out; an input x of [-1, 1] is round(127 x)
};

std::string_view name_of(Precision precision);  // "fp32", "tf32", "bf16", "fp16", "int8"
std::optional<Precision> precision_named(std::string_view name);
const std::vector<Precision>& precisions();

double input_bytes(Precision precision);  // of one element as stored
// Unit roundoff of the sums: 2^-24 for float; 0 where sums are exact (int8).
double sum_roundoff(Precision precision);

// Round to nearest, ties to even, as the hardware does. NaN never occurs in inputs.
uint16_t to_bf16(float value);
float from_bf16(uint16_t bits);
int8_t to_int8(float value);  // value in [-1, 1]
// The input as `precision` holds it: an integer for int8, else the rounded value.
double rounded(float value, Precision precision);
// What one unit of a product of rounded inputs is worth: 1 / 127^2 for int8, else 1.
double product_unit(Precision precision);

}  // namespace perfcast::ai::gemm
