#include "model/neural/dense_kernels.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cmath>

// One binary for all x86-64 machines: the widest registers that the one at hand has.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PERFCAST_WIDEST __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
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

// Four rows at once: the output, which stays in the first-level cache, is read and written a quarter as often.
PERFCAST_WIDEST void add_four_rows(const float* scale, const int32_t* const* rows, float* __restrict output,
                                   size_t quarter) {
  const int32_t* __restrict row0 = rows[0];
  const int32_t* __restrict row1 = rows[1];
  const int32_t* __restrict row2 = rows[2];
  const int32_t* __restrict row3 = rows[3];
  const float s0 = scale[0];
  const float s1 = scale[1];
  const float s2 = scale[2];
  const float s3 = scale[3];
  float* __restrict second = output + quarter;
  float* __restrict third = output + 2 * quarter;
  float* __restrict fourth = output + 3 * quarter;
  for (size_t j = 0; j < quarter; ++j) {
    const int32_t a = row0[j];
    const int32_t b = row1[j];
    const int32_t c = row2[j];
    const int32_t d = row3[j];
    const auto sum = [&](int shift) {
      return s0 * static_cast<float>(a << shift) + s1 * static_cast<float>(b << shift) +
             s2 * static_cast<float>(c << shift) + s3 * static_cast<float>(d << shift);
    };
    output[j] += sum(24);
    second[j] += sum(16);
    third[j] += sum(8);
    fourth[j] += sum(0);
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
