#include "model/neural/dense_kernels.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cmath>

// One binary for all x86-64 machines: the widest registers that the one at hand has.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PERFCAST_WIDEST __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PERFCAST_WIDEST
#endif

// oneDNN's threads are GCC's OpenMP's. Compiling with -fopenmp, for omp.h, would make Eigen use threads as well.
extern "C" void omp_set_num_threads(int threads);

namespace perfcast {

Status multiply(const Product& product, const float* a, const float* b, float* c) {
  if (product.m == 0 || product.n == 0 || product.k == 0) return {};
  const int64_t a_stride = product.transpose_a ? product.m : product.k;
  const int64_t b_stride = product.transpose_b ? product.k : product.n;
  const dnnl_status_t status =
      dnnl_sgemm(product.transpose_a ? 'T' : 'N', product.transpose_b ? 'T' : 'N', product.m, product.n, product.k,
                 product.alpha, a, a_stride, b, b_stride, product.beta, c, product.n);
  if (status == dnnl_success) return {};
  return Error{"onednn-failed", "oneDNN's matrix product ended with status " + std::to_string(static_cast<int>(status)),
               "", "oneDNN 2.6"};
}

void use_threads(int threads) { omp_set_num_threads(threads < 1 ? 1 : threads); }

namespace {

constexpr float kStep = 16777216;  // 2^24: one step of a byte that is on top of its word

// The byte that puts `steps` on top of `below`, the bytes under it, most nearly.
uint32_t top_byte(float steps, uint32_t below, int bits_below) {
  const float carried = static_cast<float>(below) / static_cast<float>(1u << bits_below);
  return static_cast<uint32_t>(std::clamp(std::lround(steps - carried), -127L, 127L)) & 0xFF;
}

}  // namespace

float PackedWeights::weight(int64_t input, int64_t output) const {
  const int64_t place = output / quarter();
  const auto word = static_cast<uint32_t>(words[static_cast<size_t>(input * quarter() + output % quarter())]);
  return scales[static_cast<size_t>(input)] * static_cast<float>(static_cast<int32_t>(word << (24 - 8 * place)));
}

PackedWeights pack(std::span<const float> weights, int64_t inputs, int64_t outputs) {
  PackedWeights packed{inputs, outputs, {}, {}};
  const auto columns = static_cast<size_t>(outputs);
  const auto quarter = static_cast<size_t>(packed.quarter());
  for (size_t i = 0; i < static_cast<size_t>(inputs); ++i) {
    const auto row = weights.subspan(i * columns, columns);
    float largest = 0;
    for (const float weight : row) largest = std::max(largest, std::abs(weight));
    const float per_step = largest > 0 ? 127 / largest : 0;
    packed.scales.push_back(largest / 127 / kStep);
    for (size_t j = 0; j < quarter; ++j) {
      uint32_t word = 0;
      for (size_t place = 0; place < 4; ++place) {
        const size_t column = j + place * quarter;
        const float steps = column < columns ? row[column] * per_step : 0;
        word |= top_byte(steps, word, static_cast<int>(8 * place)) << (8 * place);
      }
      packed.words.push_back(static_cast<int32_t>(word));
    }
  }
  return packed;
}

namespace {

using Words [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = int32_t;
using Floats [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = float;

// Four rows at once: the output, which stays in the first-level cache, is read and written a quarter as often. Vectors
// are spelt out, because compilers prefer registers of half the width.
PERFCAST_WIDEST void add_four_rows(const float* scale, const int32_t* const* rows, float* output, size_t quarter) {
  for (size_t j = 0; j < quarter; j += 16) {
    Floats sum[4];
    for (size_t place = 0; place < 4; ++place) {
      sum[place] = *reinterpret_cast<const Floats*>(output + place * quarter + j);
    }
    for (size_t r = 0; r < 4; ++r) {
      const Words words = *reinterpret_cast<const Words*>(rows[r] + j);
      sum[0] += scale[r] * __builtin_convertvector(words << 24, Floats);
      sum[1] += scale[r] * __builtin_convertvector(words << 16, Floats);
      sum[2] += scale[r] * __builtin_convertvector(words << 8, Floats);
      sum[3] += scale[r] * __builtin_convertvector(words, Floats);
    }
    for (size_t place = 0; place < 4; ++place) {
      *reinterpret_cast<Floats*>(output + place * quarter + j) = sum[place];
    }
  }
}

}  // namespace

void add_row_product(std::span<const float> input, const PackedWeights& weights, std::span<float> output) {
  const auto quarter = static_cast<size_t>(weights.quarter());
  float scale[4];
  const int32_t* rows[4];
  size_t filled = 0;
  for (size_t i = 0; i < input.size(); ++i) {
    if (input[i] == 0) continue;
    scale[filled] = input[i] * weights.scales[i];
    rows[filled] = weights.words.data() + i * quarter;
    if (++filled < 4) continue;
    add_four_rows(scale, rows, output.data(), quarter);
    filled = 0;
  }
  if (filled == 0) return;
  for (size_t i = filled; i < 4; ++i) {
    scale[i] = 0;
    rows[i] = rows[0];
  }
  add_four_rows(scale, rows, output.data(), quarter);
}

}  // namespace perfcast
