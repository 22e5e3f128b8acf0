#include "ai/gemm/conv/columns.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/parallel.h"

namespace perfcast::ai::gemm {

bool image_is_columns(const ConvShape& shape) {
  return shape.kernel_height == 1 && shape.kernel_width == 1 && shape.stride == 1 && shape.padding == 0;
}

void image_columns(const ConvShape& shape, const float* x, int64_t from, int64_t to, float* out) {
  const int64_t height = shape.out_height(), width = shape.out_width(), stride = shape.stride;
  for (int64_t line = from; line < to; ++line) {
    const int64_t s = line % shape.kernel_width, r = line / shape.kernel_width % shape.kernel_height;
    const float* image = x + line / (shape.kernel_width * shape.kernel_height) * shape.height * shape.width;
    // Output columns that read inside of the image; the same for all rows.
    const int64_t shift = s - shape.padding, room = shape.width - 1 - shift;
    const int64_t first = std::min(width, shift >= 0 ? 0 : (-shift + stride - 1) / stride);
    const int64_t end = std::max(first, room < 0 ? 0 : std::min(width, room / stride + 1));
    for (int64_t p = 0; p < height; ++p) {
      float* row_out = out + (line * height + p) * width;
      const int64_t row = p * stride + r - shape.padding;
      if (row < 0 || row >= shape.height) {
        std::fill_n(row_out, width, 0.0F);
        continue;
      }
      const float* row_in = image + row * shape.width;
      std::fill_n(row_out, first, 0.0F);
      if (stride == 1) {
        if (end > first)
          std::memcpy(row_out + first, row_in + first + shift, sizeof(float) * static_cast<size_t>(end - first));
      } else {
        for (int64_t q = first; q < end; ++q) row_out[q] = row_in[q * stride + shift];
      }
      std::fill_n(row_out + end, width - end, 0.0F);
    }
  }
}

void image_columns_threads(const ConvShape& shape, const float* x, float* out, int threads) {
  const int64_t lines = shape.in_channels * shape.kernel_height * shape.kernel_width;
  const int64_t parts = std::min<int64_t>(lines, threads);
  const auto part = [&](int64_t t) { return lines * t / parts; };
  const Status done = parallel_for(static_cast<size_t>(parts), static_cast<int>(parts), [&](size_t t) {
    image_columns(shape, x, part(static_cast<int64_t>(t)), part(static_cast<int64_t>(t) + 1), out);
    return Status();
  });
  if (!done) throw std::bad_alloc();  // nothing else fails there
}

}  // namespace perfcast::ai::gemm
