#pragma once
// im2col: the pieces of an image that a kernel meets, written out as the columns of a matrix, so that a convolution
// becomes a product.

#include "ai/gemm/conv/conv_shape.h"

namespace perfcast::ai::gemm {

// True where the image itself is that matrix: 1 x 1 kernels at every position.
bool image_is_columns(const ConvShape& shape);

// Rows `from` to `to` (of in channels x kernel height x kernel width) of the columns of one image x, C x H x W:
// out[(c R + r) S + s][p Q + q] = x[c][p stride + r - padding][q stride + s - padding], zero outside of the image.
// `out` is the whole matrix, rows x (out height x out width).
void image_columns(const ConvShape& shape, const float* x, int64_t from, int64_t to, float* out);

// The same of one image by `threads` threads.
void image_columns_threads(const ConvShape& shape, const float* x, float* out, int threads);

}  // namespace perfcast::ai::gemm
