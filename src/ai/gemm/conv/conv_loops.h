#pragma once
// The seven loops of a convolution as they are first written down, and in an order that suits the memory. One source,
// conv_loops.cc, compiled several times like loop_kernels.cc.

#include <cstdint>

namespace perfcast::ai::gemm {

// Plain numbers, for code that may use nothing inline from a header; as in ConvShape, with the output's sides.
struct ConvLoopSizes {
  int64_t batch, in_channels, height, width, out_channels, kernel_height, kernel_width, stride, padding;
  int64_t out_height, out_width;
};

// x, w and y of conv_shape.h; y is overwritten.
using ConvLoop = void (*)(const ConvLoopSizes& sizes, const float* x, const float* w, float* y);

struct ConvLoops {
  ConvLoop naive;      // image, output channel, input channel, output row and column, kernel row and column
  ConvLoop reordered;  // image, output channel, output row, kernel column, input channel, kernel row, output column
};

ConvLoops conv_loops_o1();  // -O1
ConvLoops conv_loops_o3();  // -O3
#if defined(__x86_64__)
ConvLoops conv_loops_v3();  // -O3 -march=x86-64-v3: AVX2 and FMA
ConvLoops conv_loops_v4();  // -O3 -march=x86-64-v4, 512-bit vectors
#endif

}  // namespace perfcast::ai::gemm
