// Compiled once for each set of flags; PERFCAST_CONV_LOOPS names the set. Nothing inline from a header may be used here
// (see loop_kernels.cc).

#include "ai/gemm/conv/conv_loops.h"

namespace perfcast::ai::gemm {
namespace {

void naive(const ConvLoopSizes& z, const float* x, const float* w, float* y) {
  for (int64_t i = 0; i < z.batch * z.out_channels * z.out_height * z.out_width; ++i) y[i] = 0;
  for (int64_t b = 0; b < z.batch; ++b) {
    for (int64_t o = 0; o < z.out_channels; ++o) {
      for (int64_t c = 0; c < z.in_channels; ++c) {
        for (int64_t p = 0; p < z.out_height; ++p) {
          for (int64_t q = 0; q < z.out_width; ++q) {
            for (int64_t r = 0; r < z.kernel_height; ++r) {
              for (int64_t s = 0; s < z.kernel_width; ++s) {
                const int64_t row = p * z.stride + r - z.padding, column = q * z.stride + s - z.padding;
                if (row < 0 || row >= z.height || column < 0 || column >= z.width) continue;
                y[((b * z.out_channels + o) * z.out_height + p) * z.out_width + q] +=
                    w[((o * z.in_channels + c) * z.kernel_height + r) * z.kernel_width + s] *
                    x[((b * z.in_channels + c) * z.height + row) * z.width + column];
              }
            }
          }
        }
      }
    }
  }
}

// Output columns q of kernel column s that read inside of the image: 0 <= q stride + s - padding < width.
int64_t first_inside(const ConvLoopSizes& z, int64_t s) {
  return s >= z.padding ? 0 : (z.padding - s + z.stride - 1) / z.stride;
}
int64_t end_inside(const ConvLoopSizes& z, int64_t s) {
  const int64_t room = z.width - 1 + z.padding - s;
  const int64_t end = room < 0 ? 0 : room / z.stride + 1;
  return end < z.out_width ? end : z.out_width;
}

// An output row stays in the first-level cache while everything that it needs passes by. Where a kernel column reads
// inside of the image takes a division to know: it is asked once for all channels.
void reordered(const ConvLoopSizes& z, const float* __restrict x, const float* __restrict w, float* __restrict y) {
  for (int64_t b = 0; b < z.batch; ++b) {
    for (int64_t o = 0; o < z.out_channels; ++o) {
      for (int64_t p = 0; p < z.out_height; ++p) {
        float* out = y + ((b * z.out_channels + o) * z.out_height + p) * z.out_width;
        for (int64_t q = 0; q < z.out_width; ++q) out[q] = 0;
        for (int64_t s = 0; s < z.kernel_width; ++s) {
          const int64_t from = first_inside(z, s), to = end_inside(z, s), shift = s - z.padding;
          for (int64_t c = 0; c < z.in_channels; ++c) {
            for (int64_t r = 0; r < z.kernel_height; ++r) {
              const int64_t row = p * z.stride + r - z.padding;
              if (row < 0 || row >= z.height) continue;
              const float* in = x + ((b * z.in_channels + c) * z.height + row) * z.width;
              const float weight = w[((o * z.in_channels + c) * z.kernel_height + r) * z.kernel_width + s];
              if (z.stride == 1) {
                for (int64_t q = from; q < to; ++q) out[q] += weight * in[q + shift];
              } else {
                for (int64_t q = from; q < to; ++q) out[q] += weight * in[q * z.stride + shift];
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace

ConvLoops PERFCAST_CONV_LOOPS() { return {naive, reordered}; }

}  // namespace perfcast::ai::gemm
