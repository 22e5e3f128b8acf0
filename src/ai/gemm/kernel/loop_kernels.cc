// Compiled once for each set of flags; PERFCAST_LOOPS names the set. Nothing inline from a header may be used here: the
// linker keeps one copy of such a function for the whole program, and it might keep the one for a wider CPU.

#include "ai/gemm/kernel/loop_kernels.h"

namespace perfcast::ai::gemm {
namespace {

void naive(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
      c[i * n + j] = sum;
    }
  }
}

void interchanged(int64_t m, int64_t n, int64_t k, const float* __restrict a, const float* __restrict b,
                  float* __restrict c) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * n + j] = 0;
    for (int64_t l = 0; l < k; ++l) {
      const float factor = a[i * k + l];
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += factor * b[l * n + j];
    }
  }
}

// A tile of B, 64 x 256 floats, stays in the second-level cache while all rows of A pass by.
void tiled(int64_t m, int64_t n, int64_t k, const float* __restrict a, const float* __restrict b, float* __restrict c) {
  constexpr int64_t kDepth = 64, kWidth = 256;
  for (int64_t i = 0; i < m * n; ++i) c[i] = 0;
  for (int64_t from_l = 0; from_l < k; from_l += kDepth) {
    const int64_t to_l = from_l + kDepth < k ? from_l + kDepth : k;
    for (int64_t from_j = 0; from_j < n; from_j += kWidth) {
      const int64_t to_j = from_j + kWidth < n ? from_j + kWidth : n;
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t l = from_l; l < to_l; ++l) {
          const float factor = a[i * k + l];
          for (int64_t j = from_j; j < to_j; ++j) c[i * n + j] += factor * b[l * n + j];
        }
      }
    }
  }
}

}  // namespace

LoopKernels PERFCAST_LOOPS() { return {naive, interchanged, tiled}; }

}  // namespace perfcast::ai::gemm
