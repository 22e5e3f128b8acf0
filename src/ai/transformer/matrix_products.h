#pragma once
// Rows times a layer's weights: few rows by our own kernels, which wait for nothing but the weights to be read, many by
// oneDNN's matmul where it has one for this CPU and layout.

#include <cstdint>
#include <memory>

#include "ai/transformer/kernel/transformer_kernels.h"
#include "ai/transformer/packed_matrix.h"
#include "ai/transformer/thread_team.h"
#include "base/result.h"

namespace perfcast::ai {

// From here on products are oneDNN's.
inline constexpr int64_t kManyRows = 9;
// Its products have a multiple of these rows, so that few shapes are compiled.
inline constexpr int64_t kRowBlock = 16;
inline int64_t padded_rows(int64_t rows) {
  return rows < kManyRows ? rows : (rows + kRowBlock - 1) / kRowBlock * kRowBlock;
}

// Panels that one call of the library takes: fixed by the shape, so that threads don't choose the order of sums.
inline int64_t panels_of_call(int64_t panels) { return panels >= 64 ? 8 : panels >= 16 ? 4 : 2; }

// Not for several callers at once.
class MatrixProducts {
 public:
  // `most_rows`: of any product; `most_inputs`: of any matrix. Room for rows in bytes is made for as many.
  MatrixProducts(ThreadTeam& team, const TransformerKernels& kernels, int64_t most_rows, int64_t most_inputs);
  ~MatrixProducts();
  MatrixProducts(const MatrixProducts&) = delete;
  MatrixProducts& operator=(const MatrixProducts&) = delete;

  // out[r][o] = sum over i of x[r][i] * weight(o, i). `x` and `out` have room for padded_rows(rows) rows, out's of
  // out_stride >= weights.padded_outputs() floats; what stands in x's padding must be numbers, out's padding is
  // overwritten. The same bits whatever the number of threads. "onednn-failed".
  Status multiply(const PackedMatrix& weights, const float* x, int64_t x_stride, int64_t rows, float* out,
                  int64_t out_stride);

  // Compiles what multiply() would compile of up to so many rows, so that no call of it does. "onednn-failed".
  Status prepare(const PackedMatrix& weights, int64_t x_stride, int64_t most_rows, int64_t out_stride);

  double scratch_bytes() const;
  // Of rows in bytes; what the library takes beside it isn't known before.
  static double scratch_bytes_for(int64_t most_rows, int64_t most_inputs);

 private:
  class Library;
  struct Pair;
  Pair products_of(const PackedMatrix& weights, int64_t x_stride, int64_t rows, int64_t out_stride);
  void multiply_few(const PackedMatrix& weights, const float* x, int64_t x_stride, int64_t rows, float* out,
                    int64_t out_stride);
  void round_rows(const PackedMatrix& weights, const float* x, int64_t x_stride, int64_t rows);

  ThreadTeam& team_;
  const TransformerKernels& kernels_;
  AlignedArray<uint8_t> bytes_;  // rows of inputs, rounded
  AlignedArray<float> row_scales_;
  std::unique_ptr<Library> library_;
};

}  // namespace perfcast::ai
