#pragma once
// The loops that everybody writes first. One source, loop_kernels.cc, compiled several times: each set of flags has its
// own namespace, so that code for a wider CPU never replaces portable code when the program is linked.
// C (m x n) = A (m x k) B (k x n), row-major; C is overwritten.

#include <cstdint>

namespace perfcast::ai::gemm {

using LoopKernel = void (*)(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c);

struct LoopKernels {
  LoopKernel naive;         // for i, j, k: one dot product after the other, B read down its columns
  LoopKernel interchanged;  // for i, k, j: the inner loop runs along rows of B and C
  LoopKernel tiled;         // the same within tiles that stay in cache
};

LoopKernels loops_o1();  // -O1
LoopKernels loops_o3();  // -O3
#if defined(__x86_64__)
LoopKernels loops_v3();  // -O3 -march=x86-64-v3: AVX2 and FMA
LoopKernels loops_v4();  // -O3 -march=x86-64-v4, 512-bit vectors
#endif

}  // namespace perfcast::ai::gemm
