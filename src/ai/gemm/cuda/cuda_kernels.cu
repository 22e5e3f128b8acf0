#include <cuda_fp16.h>
#include <mma.h>

#include <type_traits>

#include "ai/gemm/cuda/cuda_kernels.h"

namespace perfcast::ai::gemm::cuda {
namespace {

using namespace nvcuda;

constexpr int kTile = 32;  // side of the tiles in shared memory, and of the blocks of the naive kernel

__host__ __device__ constexpr unsigned blocks_of(int64_t size, int64_t block) {
  return static_cast<unsigned>((size + block - 1) / block);
}

// Threads that are neighbours have neighbouring columns, so that what they read of B lies side by side.
__global__ void naive(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
  const int64_t i = int64_t{blockIdx.y} * kTile + threadIdx.y, j = int64_t{blockIdx.x} * kTile + threadIdx.x;
  if (i >= m || j >= n) return;
  float sum = 0;
  for (int64_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
  c[i * n + j] = sum;
}

// A block loads a tile of A and one of B once, and each of its threads reads them 32 times.
__global__ void tiles(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int64_t i = int64_t{blockIdx.y} * kTile + threadIdx.y, j = int64_t{blockIdx.x} * kTile + threadIdx.x;
  float sum = 0;
  for (int64_t from = 0; from < k; from += kTile) {
    const int64_t across = from + threadIdx.x, down = from + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = i < m && across < k ? a[i * k + across] : 0;
    tile_b[threadIdx.y][threadIdx.x] = down < k && j < n ? b[down * n + j] : 0;
    __syncthreads();
#pragma unroll
    for (int l = 0; l < kTile; ++l) sum += tile_a[threadIdx.y][l] * tile_b[l][threadIdx.x];
    __syncthreads();
  }
  if (i < m && j < n) c[i * n + j] = sum;
}

constexpr int kWmmaDepth = 32, kWarps = 4;
constexpr int kSkew = 8;  // halves added to each row, so that rows begin at different banks

// Four warps, each with 32 x 32 of a block's 64 x 64 elements of C, as 2 x 2 fragments of 16 x 16.
__global__ void __launch_bounds__(32 * kWarps) wmma_product(int64_t n, int64_t k, const half* a, const half* b, float* c) {
  __shared__ __align__(32) half tile_a[kWmmaTile][kWmmaDepth + kSkew];
  __shared__ __align__(32) half tile_b[kWmmaDepth][kWmmaTile + kSkew];
  const int64_t row = int64_t{blockIdx.y} * kWmmaTile, column = int64_t{blockIdx.x} * kWmmaTile;
  const int warp = static_cast<int>(threadIdx.x) / 32, down = warp / 2 * 32, across = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (auto& line : sum) {
    for (auto& fragment : line) wmma::fill_fragment(fragment, 0.0F);
  }
  for (int64_t from = 0; from < k; from += kWmmaDepth) {
    // 8 halves at a time: 256 pieces of each tile for 128 threads.
    for (int piece = static_cast<int>(threadIdx.x); piece < 256; piece += 32 * kWarps) {
      const int row_a = piece / 4, column_a = piece % 4 * 8, row_b = piece / 8, column_b = piece % 8 * 8;
      *reinterpret_cast<uint4*>(&tile_a[row_a][column_a]) =
          *reinterpret_cast<const uint4*>(a + (row + row_a) * k + from + column_a);
      *reinterpret_cast<uint4*>(&tile_b[row_b][column_b]) =
          *reinterpret_cast<const uint4*>(b + (from + row_b) * n + column + column_b);
    }
    __syncthreads();
#pragma unroll
    for (int l = 0; l < kWmmaDepth; l += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right[2];
      for (int f = 0; f < 2; ++f) {
        wmma::load_matrix_sync(left[f], &tile_a[down + 16 * f][l], kWmmaDepth + kSkew);
        wmma::load_matrix_sync(right[f], &tile_b[l][across + 16 * f], kWmmaTile + kSkew);
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], left[i], right[j], sum[i][j]);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      wmma::store_matrix_sync(c + (row + down + 16 * i) * n + column + across + 16 * j, sum[i][j],
                              static_cast<unsigned>(n), wmma::mem_row_major);
    }
  }
}

constexpr int kPeakThreads = 256, kPeakBlocks = 8;  // of a multiprocessor: as many threads as the largest have
constexpr int kChains = 16;                         // multiply-adds that don't wait for each other
constexpr int kFragments = 4;
constexpr int kPeakValues = 7;

// Factor and step come from outside: the compiler must not know them. The sums approach step / (1 - factor).
__global__ void peak_fp32(int64_t passes, float factor, float step, float* out) {
  float sums[kChains];
#pragma unroll
  for (int i = 0; i < kChains; ++i) sums[i] = static_cast<float>(i);
  for (int64_t pass = 0; pass < passes; ++pass) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) sums[i] = fmaf(sums[i], factor, step);
  }
  float all = 0;
#pragma unroll
  for (int i = 0; i < kChains; ++i) all += sums[i];
  out[int64_t{blockIdx.x} * blockDim.x + threadIdx.x] = all;
}

// No two fragments hold the same, nor do two halves of one: else the compiler issues one multiplication for both, and the
// peak is above what the device can do.
template <typename Fragment>
__device__ void fill_differently(Fragment& fragment, float value, int which) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  using Element = std::remove_reference_t<decltype(fragment.x[0])>;
#pragma unroll
  for (int e = 0; e < fragment.num_elements; ++e) {
    fragment.x[e] = static_cast<Element>(value * static_cast<float>(1 + (3 * lane + 2 * e + which) % kPeakValues));
  }
}

template <int kDepth, typename Held, typename Sum>
__device__ void peak_fragments(int64_t passes, float value, float* out) {
  wmma::fragment<wmma::matrix_a, 16, 16, kDepth, Held, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, kDepth, Held, wmma::row_major> right[kFragments];
  wmma::fragment<wmma::accumulator, 16, 16, kDepth, Sum> sums[kFragments];
  fill_differently(left, value, 0);
#pragma unroll
  for (int i = 0; i < kFragments; ++i) {
    fill_differently(right[i], value, i);
    fill_differently(sums[i], value, i);
  }
  for (int64_t pass = 0; pass < passes; ++pass) {
#pragma unroll
    for (int i = 0; i < kFragments; ++i) wmma::mma_sync(sums[i], left, right[i], sums[i]);
  }
  float all = 0;
#pragma unroll
  for (int i = 0; i < kFragments; ++i) {
    for (int e = 0; e < sums[i].num_elements; ++e) all += static_cast<float>(sums[i].x[e]);
  }
  out[int64_t{blockIdx.x} * blockDim.x + threadIdx.x] = all;
}

__global__ void peak_fp16(int64_t passes, float value, float* out) {
  peak_fragments<16, half, float>(passes, value, out);
}
__global__ void peak_tf32(int64_t passes, float value, float* out) {
#if __CUDA_ARCH__ >= 800
  peak_fragments<8, wmma::precision::tf32, float>(passes, value, out);  // exact in tf32
#else
  (void)passes, (void)value, (void)out;  // the host asks for 8.0 first
#endif
}
__global__ void peak_int8(int64_t passes, float value, float* out) {
  peak_fragments<16, signed char, int>(passes, value, out);
}

int launched() { return static_cast<int>(cudaGetLastError()); }

}  // namespace

int launch_naive(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
  naive<<<dim3(blocks_of(n, kTile), blocks_of(m, kTile)), dim3(kTile, kTile)>>>(m, n, k, a, b, c);
  return launched();
}

int launch_tiles(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c) {
  tiles<<<dim3(blocks_of(n, kTile), blocks_of(m, kTile)), dim3(kTile, kTile)>>>(m, n, k, a, b, c);
  return launched();
}

int launch_wmma(int64_t m, int64_t n, int64_t k, const uint16_t* a, const uint16_t* b, float* c) {
  wmma_product<<<dim3(blocks_of(n, kWmmaTile), blocks_of(m, kWmmaTile)), 32 * kWarps>>>(
      n, k, reinterpret_cast<const half*>(a), reinterpret_cast<const half*>(b), c);
  return launched();
}

PeakSize wmma_peak_size(PeakKind kind, int multiprocessors, int64_t passes) {
  const int64_t threads = int64_t{multiprocessors} * kPeakBlocks * kPeakThreads;
  const double each = static_cast<double>(passes) * static_cast<double>(threads);
  if (kind == PeakKind::kFp32) return {threads, 2.0 * kChains * each};
  const double depth = kind == PeakKind::kTf32 ? 8 : 16;
  return {threads, 2.0 * 16 * 16 * depth * kFragments * each / 32};  // a warp shares a fragment
}

int launch_wmma_peak(PeakKind kind, int multiprocessors, int64_t passes, float* out) {
  const unsigned blocks = static_cast<unsigned>(multiprocessors) * kPeakBlocks;
  switch (kind) {
    case PeakKind::kFp32:
      peak_fp32<<<blocks, kPeakThreads>>>(passes, 0.5F, 1.0F, out);
      break;
    case PeakKind::kTf32:
      peak_tf32<<<blocks, kPeakThreads>>>(passes, 0.0078125F, out);
      break;
    case PeakKind::kFp16:
      peak_fp16<<<blocks, kPeakThreads>>>(passes, 0.0078125F, out);
      break;
    case PeakKind::kInt8:
      peak_int8<<<blocks, kPeakThreads>>>(passes, 1.0F, out);
      break;
  }
  return launched();
}

}  // namespace perfcast::ai::gemm::cuda
