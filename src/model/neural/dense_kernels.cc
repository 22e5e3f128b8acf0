#include "model/neural/dense_kernels.h"

#include <oneapi/dnnl/dnnl.h>

#include <bit>
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

uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float from_bfloat16(uint16_t value) { return std::bit_cast<float>(static_cast<uint32_t>(value) << 16); }

namespace {

// Four rows at once: the output, which stays in the first-level cache, is read and written a quarter as often.
PERFCAST_WIDEST void add_four_rows(const float* scale, const uint16_t* const* rows, float* __restrict output,
                                   size_t columns) {
  const uint16_t* __restrict row0 = rows[0];
  const uint16_t* __restrict row1 = rows[1];
  const uint16_t* __restrict row2 = rows[2];
  const uint16_t* __restrict row3 = rows[3];
  for (size_t j = 0; j < columns; ++j) {
    output[j] += scale[0] * std::bit_cast<float>(static_cast<uint32_t>(row0[j]) << 16) +
                 scale[1] * std::bit_cast<float>(static_cast<uint32_t>(row1[j]) << 16) +
                 scale[2] * std::bit_cast<float>(static_cast<uint32_t>(row2[j]) << 16) +
                 scale[3] * std::bit_cast<float>(static_cast<uint32_t>(row3[j]) << 16);
  }
}

}  // namespace

void add_row_product(std::span<const float> input, const uint16_t* weights, std::span<float> output) {
  const size_t columns = output.size();
  float scale[4];
  const uint16_t* rows[4];
  size_t filled = 0;
  for (size_t i = 0; i < input.size(); ++i) {
    if (input[i] == 0) continue;
    scale[filled] = input[i];
    rows[filled] = weights + i * columns;
    if (++filled < 4) continue;
    add_four_rows(scale, rows, output.data(), columns);
    filled = 0;
  }
  if (filled == 0) return;
  for (size_t i = filled; i < 4; ++i) {
    scale[i] = 0;
    rows[i] = rows[0];
  }
  add_four_rows(scale, rows, output.data(), columns);
}

}  // namespace perfcast
