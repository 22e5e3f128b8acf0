#pragma once
// Our own product, after Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (ACM TOMS 2008):
// three loops cut the product into blocks that fit the caches, two more walk over register blocks, and one small loop
// of FMAs does the work. It is kept short enough to read at one sitting.

#include <cstdint>
#include <string_view>
#include <vector>

#include "machine/ceiling/aligned_array.h"

namespace perfcast {

// rows x columns of C in registers: c = a b, or c += a b, over `depth` packed columns of A and rows of B.
using BlockProduct = void (*)(int64_t depth, const float* a, const float* b, float* c, int64_t stride, bool add);

struct RegisterBlock {
  const char* isa;    // name of cpu_isa.h that it needs
  const char* title;  // "12 x 32 AVX-512"
  int64_t rows, columns;
  BlockProduct product;
};

// All that this build has, the widest first; empty on other architectures than x86-64.
const std::vector<RegisterBlock>& register_blocks();
// The widest one that this CPU can run; null where there is none.
const RegisterBlock* register_block_here();

// How a product is cut: a block of A (rows x depth) takes half of the second-level cache, beside a panel of B (depth x
// the register block's columns) that streams past it; the block of B (depth x columns) is for the last level.
struct BlockSizes {
  int64_t depth = 0, rows = 0, columns = 0;
};
// `l2_bytes` of one core; not-a-number where it isn't known: 256 KiB then.
BlockSizes block_sizes(const RegisterBlock& block, double l2_bytes);

// Room for packed blocks, kept from call to call.
struct PackedBlocks {
  AlignedArray<float> a, b;
};

// C (m x n) = A (m x k) B (k x n), row-major; rows of A, B and C are lda, ldb and ldc floats apart.
void block_product(const RegisterBlock& block, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda,
                   const float* b, int64_t ldb, float* c, int64_t ldc, PackedBlocks& packed);

// The same by `threads` threads, each with a strip of C, cut along its longer side.
void block_product_threads(const RegisterBlock& block, int64_t m, int64_t n, int64_t k, const float* a, const float* b,
                           float* c, std::vector<PackedBlocks>& packed, int threads);

}  // namespace perfcast
