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

// For products and Adam steps that this thread asks for from now on; their results are the same with any number.
void use_threads(int threads);
int threads_in_use();

// rows[r][c] += bias[c], and what is then below 0 becomes 0 where `rectify`.
void add_bias(std::span<float> rows, std::span<const float> bias, bool rectify);

// Back through a rectifier: gradient[i] = 0 where output[i], which it let through, is 0.
void close_rectified(std::span<float> gradient, std::span<const float> output);

// sums[c] = sum over r of rows[r][c].
void sum_rows(std::span<const float> rows, std::span<float> sums);

// One step of AdamW (Loshchilov & Hutter 2019) in one pass over memory, which is what bounds it:
//   first = first_decay first + (1 - first_decay) gradient;  second likewise of the gradient's square
//   value -= rate (first_scale first / (sqrt(second_scale second) + epsilon) + weight_decay value)
struct AdamStep {
  float rate = 0, first_decay = 0, second_decay = 0, first_scale = 1, second_scale = 1, epsilon = 0, weight_decay = 0;
};
void adam_step(const AdamStep& step, std::span<const float> gradient, std::span<float> first, std::span<float> second,
               std::span<float> values);

// [inputs x outputs] weights in 8 bits with one scale per input. A quarter of a float's bytes, and laid out so that
// unpacking is a shift: word j of an input carries the outputs j, j + Q, j + 2 Q and j + 3 Q, from its lowest byte up,
// where Q is a quarter of the outputs, rounded up to 16. A weight is scale x the word shifted until its byte is on top;
// the bytes below it are reckoned with when packing, so that each weight is off by at most half a step (its input's
// largest weight / 127).
struct PackedWeights {
  int64_t inputs = 0, outputs = 0;
  std::vector<int32_t> words;  // inputs x Q
  std::vector<float> scales;   // inputs; of shifted words

  int64_t quarter() const { return (outputs + 63) / 64 * 16; }
  float weight(int64_t input, int64_t output) const;
};
PackedWeights pack(std::span<const float> weights, int64_t inputs, int64_t outputs);

// output += input x weights; output has 4 x quarter() values, of which those from `outputs` on are padding. Inputs of
// 0, which half of a rectified layer's are, cost nothing.
void add_row_product(std::span<const float> input, const PackedWeights& weights, std::span<float> output);

}  // namespace perfcast
