// Hopper's own matrix instructions, by the PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions":
// four warps multiply 64 x K by K x 128, both in shared memory as blocks of 8 rows of 16 bytes, sums in registers. Compiled
// for compute capability 9.0a alone: no other device has these instructions.

#include <cstdint>

#include "ai/gemm/cuda/cuda_kernels.h"

namespace perfcast::ai::gemm::cuda {
namespace {

constexpr int kThreads = 128, kBlocks = 4;          // of a multiprocessor
constexpr int kRows = 64, kColumns = 128;           // of one instruction
constexpr int kSums = kRows * kColumns / kThreads;  // of a thread
constexpr int kUnrolled = 8;
constexpr int kValues = 7;

// The 64 sums as operands 0 to 63 of an instruction; then the two descriptors.
#define PERFCAST_8(a, b, c, d, e, f, g, h) "%" #a ", %" #b ", %" #c ", %" #d ", %" #e ", %" #f ", %" #g ", %" #h
#define PERFCAST_SUMS                                                                                          \
  "{" PERFCAST_8(0, 1, 2, 3, 4, 5, 6, 7) ", " PERFCAST_8(8, 9, 10, 11, 12, 13, 14, 15) ", "                    \
  PERFCAST_8(16, 17, 18, 19, 20, 21, 22, 23) ", " PERFCAST_8(24, 25, 26, 27, 28, 29, 30, 31) ", "              \
  PERFCAST_8(32, 33, 34, 35, 36, 37, 38, 39) ", " PERFCAST_8(40, 41, 42, 43, 44, 45, 46, 47) ", "              \
  PERFCAST_8(48, 49, 50, 51, 52, 53, 54, 55) ", " PERFCAST_8(56, 57, 58, 59, 60, 61, 62, 63) "}, %64, %65, "
#define PERFCAST_4_SUMS(constraint, from) \
  constraint(sums[from]), constraint(sums[from + 1]), constraint(sums[from + 2]), constraint(sums[from + 3])
#define PERFCAST_16_SUMS(constraint, from)                                                    \
  PERFCAST_4_SUMS(constraint, from), PERFCAST_4_SUMS(constraint, from + 4),                   \
      PERFCAST_4_SUMS(constraint, from + 8), PERFCAST_4_SUMS(constraint, from + 12)
#define PERFCAST_64_SUMS(constraint)                                       \
  PERFCAST_16_SUMS(constraint, 0), PERFCAST_16_SUMS(constraint, 16),       \
      PERFCAST_16_SUMS(constraint, 32), PERFCAST_16_SUMS(constraint, 48)

struct Fp16 {
  using Element = uint16_t;
  using Sum = float;
  static constexpr int kDepth = 16;
  static __device__ Element element(int i) { return static_cast<Element>(0x2000 + 64 * (i % kValues)); }  // 2^-7 and more
  static __device__ void multiply(Sum (&sums)[kSums], uint64_t a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " PERFCAST_SUMS "1, 1, 1, 0, 0;"
                 : PERFCAST_64_SUMS("+f")
                 : "l"(a), "l"(b));
  }
};
struct Tf32 {
  using Element = float;
  using Sum = float;
  static constexpr int kDepth = 8;
  static __device__ Element element(int i) { return 0.0078125F * static_cast<float>(1 + i % kValues); }
  static __device__ void multiply(Sum (&sums)[kSums], uint64_t a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 " PERFCAST_SUMS "1, 1, 1;"
                 : PERFCAST_64_SUMS("+f")
                 : "l"(a), "l"(b));
  }
};
struct Int8 {
  using Element = int8_t;
  using Sum = int32_t;
  static constexpr int kDepth = 32;
  static __device__ Element element(int i) { return static_cast<Element>(1 + i % kValues); }
  static __device__ void multiply(Sum (&sums)[kSums], uint64_t a, uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 " PERFCAST_SUMS "1;"
                 : PERFCAST_64_SUMS("+r")
                 : "l"(a), "l"(b));
  }
};

// Of a matrix of rows of 32 bytes: two blocks of 128 bytes side by side, the next eight rows 256 bytes on, no swizzle.
__device__ uint64_t descriptor(const void* matrix) {
  const uint64_t address = __cvta_generic_to_shared(matrix);
  return (address & 0x3FFFF) >> 4 | uint64_t{128 >> 4} << 16 | uint64_t{256 >> 4} << 32;
}

template <typename Kind>
__global__ void __launch_bounds__(kThreads) peak(int64_t passes, float* out) {
  __shared__ __align__(128) typename Kind::Element left[kRows * Kind::kDepth];
  __shared__ __align__(128) typename Kind::Element right[kColumns * Kind::kDepth];
  for (int i = static_cast<int>(threadIdx.x); i < kRows * Kind::kDepth; i += kThreads) left[i] = Kind::element(i);
  for (int i = static_cast<int>(threadIdx.x); i < kColumns * Kind::kDepth; i += kThreads) right[i] = Kind::element(2 * i);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const uint64_t a = descriptor(left), b = descriptor(right);
  typename Kind::Sum sums[kSums];
#pragma unroll
  for (int i = 0; i < kSums; ++i) sums[i] = static_cast<typename Kind::Sum>(i);
  for (int64_t pass = 0; pass < passes; ++pass) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) Kind::multiply(sums, a, b);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  float all = 0;
#pragma unroll
  for (int i = 0; i < kSums; ++i) all += static_cast<float>(sums[i]);
  out[int64_t{blockIdx.x} * kThreads + threadIdx.x] = all;
}

}  // namespace

PeakSize wgmma_peak_size(PeakKind kind, int multiprocessors, int64_t passes) {
  const int64_t blocks = int64_t{multiprocessors} * kBlocks;
  const double depth = kind == PeakKind::kTf32 ? Tf32::kDepth : kind == PeakKind::kFp16 ? Fp16::kDepth : Int8::kDepth;
  return {blocks * kThreads, 2.0 * kRows * kColumns * depth * kUnrolled * static_cast<double>(passes * blocks)};
}

int launch_wgmma_peak(PeakKind kind, int multiprocessors, int64_t passes, float* out) {
  const unsigned blocks = static_cast<unsigned>(multiprocessors) * kBlocks;
  switch (kind) {
    case PeakKind::kFp32:
      return static_cast<int>(cudaErrorInvalidValue);
    case PeakKind::kTf32:
      peak<Tf32><<<blocks, kThreads>>>(passes, out);
      break;
    case PeakKind::kFp16:
      peak<Fp16><<<blocks, kThreads>>>(passes, out);
      break;
    case PeakKind::kInt8:
      peak<Int8><<<blocks, kThreads>>>(passes, out);
      break;
  }
  return static_cast<int>(cudaGetLastError());
}

}  // namespace perfcast::ai::gemm::cuda
