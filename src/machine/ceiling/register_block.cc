#include "machine/ceiling/register_block.h"

#include <algorithm>
#include <cstddef>
#include <new>

#include "base/parallel.h"
#include "base/unknown.h"
#include "machine/ceiling/cpu_isa.h"
#include "machine/ceiling/packing.h"
#include "machine/facts/caches.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace perfcast {
namespace {

#if defined(__x86_64__)

constexpr std::ptrdiff_t kStepsAhead = 8;

// 24 of 32 registers hold C, two a row of B; the elements of A are broadcast by the FMAs themselves. Each step loads
// 14 times for 24 FMAs, so that the two FMA units, not the two load ports, are what is busy.
__attribute__((target("avx512f"))) void product_12x32(int64_t depth, const float* a, const float* b, float* c,
                                                      int64_t stride, bool add) {
  __m512 sum[12][2];
#pragma GCC unroll 12
  for (int r = 0; r < 12; ++r) {
    _mm_prefetch(reinterpret_cast<const char*>(c + r * stride), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(c + r * stride + 16), _MM_HINT_T0);
    sum[r][0] = sum[r][1] = _mm512_setzero_ps();
  }
  for (int64_t l = 0; l < depth; ++l, a += 12, b += 32) {
    // Panels are longer than the first-level cache is large; past their end it is a hint that nobody minds.
    _mm_prefetch(reinterpret_cast<const char*>(b + kStepsAhead * 32), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(b + kStepsAhead * 32 + 16), _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char*>(a + kStepsAhead * 12), _MM_HINT_T0);
    const __m512 left = _mm512_loadu_ps(b), right = _mm512_loadu_ps(b + 16);
#pragma GCC unroll 12
    for (int r = 0; r < 12; ++r) {
      const __m512 factor = _mm512_set1_ps(a[r]);
      sum[r][0] = _mm512_fmadd_ps(factor, left, sum[r][0]);
      sum[r][1] = _mm512_fmadd_ps(factor, right, sum[r][1]);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < 12; ++r, c += stride) {
    if (add) sum[r][0] = _mm512_add_ps(sum[r][0], _mm512_loadu_ps(c));
    if (add) sum[r][1] = _mm512_add_ps(sum[r][1], _mm512_loadu_ps(c + 16));
    _mm512_storeu_ps(c, sum[r][0]);
    _mm512_storeu_ps(c + 16, sum[r][1]);
  }
}

// The same in 16 registers of half the width: 12 hold C.
__attribute__((target("avx2,fma"))) void product_6x16(int64_t depth, const float* a, const float* b, float* c,
                                                      int64_t stride, bool add) {
  __m256 sum[6][2];
#pragma GCC unroll 6
  for (int r = 0; r < 6; ++r) {
    _mm_prefetch(reinterpret_cast<const char*>(c + r * stride), _MM_HINT_T0);
    sum[r][0] = sum[r][1] = _mm256_setzero_ps();
  }
  for (int64_t l = 0; l < depth; ++l, a += 6, b += 16) {
    const __m256 left = _mm256_loadu_ps(b), right = _mm256_loadu_ps(b + 8);
#pragma GCC unroll 6
    for (int r = 0; r < 6; ++r) {
      const __m256 factor = _mm256_broadcast_ss(a + r);
      sum[r][0] = _mm256_fmadd_ps(factor, left, sum[r][0]);
      sum[r][1] = _mm256_fmadd_ps(factor, right, sum[r][1]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < 6; ++r, c += stride) {
    if (add) sum[r][0] = _mm256_add_ps(sum[r][0], _mm256_loadu_ps(c));
    if (add) sum[r][1] = _mm256_add_ps(sum[r][1], _mm256_loadu_ps(c + 8));
    _mm256_storeu_ps(c, sum[r][0]);
    _mm256_storeu_ps(c + 8, sum[r][1]);
  }
}

#endif

constexpr double kUsualL2 = 256 * 1024;

// A block at the edge of C: computed whole beside it, and what is inside taken over.
void edge_product(const RegisterBlock& block, int64_t rows, int64_t columns, int64_t depth, const float* a,
                  const float* b, float* c, int64_t stride, bool add) {
  alignas(64) float whole[12 * 32];
  block.product(depth, a, b, whole, block.columns, false);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < columns; ++j) {
      float& out = c[r * stride + j];
      out = whole[r * block.columns + j] + (add ? out : 0);
    }
  }
}

}  // namespace

const std::vector<RegisterBlock>& register_blocks() {
  static const std::vector<RegisterBlock> kBlocks = {
#if defined(__x86_64__)
    {"avx512", "12 x 32 AVX-512", 12, 32, product_12x32},
    {"avx2", "6 x 16 AVX2", 6, 16, product_6x16},
#endif
  };
  return kBlocks;
}

const RegisterBlock* register_block_here() {
  for (const RegisterBlock& block : register_blocks()) {
    if (cpu_has(block.isa)) return &block;
  }
  return nullptr;
}

BlockSizes block_sizes(const RegisterBlock& block, double l2_bytes) {
  if (!(l2_bytes > 0)) l2_bytes = kUsualL2;
  constexpr double kFloat = sizeof(float);
  BlockSizes sizes;
  // A panel of B takes a sixteenth of the cache: C is read and written once for each depth, and longer ones gain
  // little.
  const double depth = l2_bytes / 16 / (static_cast<double>(block.columns) * kFloat);
  sizes.depth = static_cast<int64_t>(std::clamp(depth, 256.0, 512.0)) / 64 * 64;
  const double rows = l2_bytes / 2 / (static_cast<double>(sizes.depth) * kFloat);
  sizes.rows = std::max<int64_t>(1, static_cast<int64_t>(rows) / block.rows) * block.rows;
  sizes.columns = 3072L * 256 / sizes.depth;
  return sizes;
}

void block_product(const RegisterBlock& block, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                   const float* b, int64_t ldb, float* c, int64_t ldc, PackedBlocks& packed) {
  static const double kL2Bytes = caches_of_this_processor().l2_bytes.value_or(kUnknown);
  const BlockSizes sizes = block_sizes(block, kL2Bytes);
  const int64_t widest = std::min(sizes.columns, round_up(n, block.columns)), deepest = std::min(sizes.depth, k);
  packed.b.require(static_cast<size_t>(deepest * widest));
  packed.a.require(static_cast<size_t>(deepest * std::min(sizes.rows, round_up(m, block.rows))));
  for (int64_t j0 = 0; j0 < n; j0 += sizes.columns) {
    const int64_t columns = std::min(sizes.columns, n - j0);
    for (int64_t l0 = 0; l0 < k; l0 += sizes.depth) {
      const int64_t depth = std::min(sizes.depth, k - l0);
      pack_columns(b + l0 * ldb + j0, ldb, depth, columns, block.columns, packed.b.data());
      for (int64_t i0 = 0; i0 < m; i0 += sizes.rows) {
        const int64_t rows = std::min(sizes.rows, m - i0);
        pack_rows(a + i0 * lda + l0, lda, rows, depth, block.rows, packed.a.data());
        // A panel of B stays in the first-level cache while the panels of A stream past it from the second.
        for (int64_t j = 0; j < columns; j += block.columns) {
          for (int64_t i = 0; i < rows; i += block.rows) {
            const float* panel_a = packed.a.data() + i * depth;
            const float* panel_b = packed.b.data() + j * depth;
            float* out = c + (i0 + i) * ldc + j0 + j;
            if (i + block.rows <= rows && j + block.columns <= columns) {
              block.product(depth, panel_a, panel_b, out, ldc, l0 > 0);
            } else {
              edge_product(block, std::min(block.rows, rows - i), std::min(block.columns, columns - j), depth, panel_a,
                           panel_b, out, ldc, l0 > 0);
            }
          }
        }
      }
    }
  }
}

void block_product_threads(const RegisterBlock& block, int64_t m, int64_t n, int64_t k, const float* a, const float* b,
                           float* c, std::vector<PackedBlocks>& packed, int threads) {
  const bool by_rows = m >= n;
  const int64_t side = by_rows ? m : n;
  const int64_t strip = round_up((side + threads - 1) / threads, by_rows ? block.rows : block.columns);
  packed.resize(static_cast<size_t>(threads));
  const auto work = [&](int64_t from, PackedBlocks& room) {
    const int64_t size = std::min(strip, side - from);
    if (by_rows) {
      block_product(block, size, n, k, a + from * k, k, b, n, c + from * n, n, room);
    } else {
      block_product(block, m, size, k, a, k, b + from, n, c + from, n, room);
    }
  };
  const auto strips = static_cast<size_t>((side + strip - 1) / strip);
  const Status done = parallel_for(strips, threads, [&](size_t t) {
    work(static_cast<int64_t>(t) * strip, packed[t]);
    return Status();
  });
  if (!done) throw std::bad_alloc();  // nothing else fails there
}

}  // namespace perfcast
