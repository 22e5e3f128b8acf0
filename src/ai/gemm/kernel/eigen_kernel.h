#pragma once
// Eigen's product. Eigen picks its vector width when it is compiled, so eigen_kernel.cc is compiled once for each
// width.

#include <cstdint>

namespace perfcast::ai::gemm {

void eigen_base(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c);
#if defined(__x86_64__)
void eigen_v3(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c);  // AVX2 and FMA
void eigen_v4(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c);  // AVX-512
#endif

}  // namespace perfcast::ai::gemm
