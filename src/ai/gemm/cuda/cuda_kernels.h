#pragma once
// What runs on the GPU. Pointers are device pointers, matrices are row-major, work goes to the default stream. Each
// launch returns the CUDA error code as an int, 0 where it was taken.

#include <cstdint>

namespace perfcast::ai::gemm::cuda {

// Sides of WMMA operands are multiples of this; others are filled up with zeros.
inline constexpr int64_t kWmmaTile = 64;

// One thread computes one element of C.
int launch_naive(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c);
// The same from tiles of 32 x 32 in shared memory.
int launch_tiles(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c);
// Tensor cores: IEEE halves in (as 16 bits), float sums. m, n and k are multiples of kWmmaTile.
int launch_wmma(int64_t m, int64_t n, int64_t k, const uint16_t* a, const uint16_t* b, float* c);

// Multiply-adds in registers and nothing else, by every multiprocessor at once.
enum class PeakKind { kFp32, kTf32, kFp16, kInt8 };  // the first on CUDA cores, the others on tensor cores
struct PeakSize {
  int64_t results = 0;  // floats that `out` must have room for; those kPeakPeriod apart become the same number
  double operations = 0;
};
inline constexpr int64_t kPeakPeriod = 128;
PeakSize wmma_peak_size(PeakKind kind, int multiprocessors, int64_t passes);
int launch_wmma_peak(PeakKind kind, int multiprocessors, int64_t passes, float* out);

// The same by the matrix instructions that only Hopper has (wgmma, operands in shared memory): WMMA reaches some 60% of
// its tensor cores. Tensor cores alone, compute capability 9.0 alone.
PeakSize wgmma_peak_size(PeakKind kind, int multiprocessors, int64_t passes);
int launch_wgmma_peak(PeakKind kind, int multiprocessors, int64_t passes, float* out);

}  // namespace perfcast::ai::gemm::cuda
