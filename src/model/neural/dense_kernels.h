#pragma once
// Products of a dense network. Training: oneDNN's matrix products. One row: our own, because a library call per layer
// and full-precision weights would take longer than the arithmetic.

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace perfcast {

// c = alpha * op(a) op(b) + beta * c, row-major; op(a) is m x k, op(b) is k x n. "onednn-failed" where it can't.
struct Product {
  bool transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  float alpha = 1, beta = 0;
};
Status multiply(const Product& product, const float* a, const float* b, float* c);

// For products that this thread asks for from now on.
void use_threads(int threads);

// bfloat16: the upper half of a float, rounded to nearest even.
uint16_t to_bfloat16(float value);
float from_bfloat16(uint16_t value);

// output += input x weights; weights: [input.size() x output.size()] row-major. Inputs of 0, which half of a rectified
// layer's are, cost nothing.
void add_row_product(std::span<const float> input, const uint16_t* weights, std::span<float> output);

}  // namespace perfcast
