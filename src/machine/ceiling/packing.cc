#include "machine/ceiling/packing.h"

#include <algorithm>

namespace perfcast {
namespace {

// A panel's width known to the compiler: its copies become a few moves.
template <int64_t kPanel>
void pack_whole_rows(const float* a, int64_t stride, int64_t depth, float* out) {
  for (int64_t l = 0; l < depth; ++l, out += kPanel) {
    for (int64_t r = 0; r < kPanel; ++r) out[r] = a[r * stride + l];
  }
}

constexpr int64_t kAhead = 16;  // rows

template <int64_t kPanel>
void pack_whole_columns(const float* __restrict b, int64_t stride, int64_t depth, float* __restrict out) {
  for (int64_t l = 0; l < depth; ++l, out += kPanel, b += stride) {
    // Rows lie a stride apart, which no hardware foresees; past the end it is a hint that nobody minds.
    for (int64_t j = 0; j < kPanel; j += 16) __builtin_prefetch(b + kAhead * stride + j);
    for (int64_t j = 0; j < kPanel; ++j) out[j] = b[j];
  }
}

}  // namespace

void pack_rows(const float* a, int64_t stride, int64_t rows, int64_t depth, int64_t panel, float* out) {
  for (int64_t first = 0; first < rows; first += panel, out += panel * depth) {
    const float* from = a + first * stride;
    const int64_t present = std::min(panel, rows - first);
    if (present == 12 && panel == 12) {
      pack_whole_rows<12>(from, stride, depth, out);
    } else if (present == 6 && panel == 6) {
      pack_whole_rows<6>(from, stride, depth, out);
    } else {
      for (int64_t l = 0; l < depth; ++l) {
        for (int64_t r = 0; r < panel; ++r) out[l * panel + r] = r < present ? from[r * stride + l] : 0;
      }
    }
  }
}

void pack_columns(const float* b, int64_t stride, int64_t depth, int64_t columns, int64_t panel, float* out) {
  for (int64_t first = 0; first < columns; first += panel, out += panel * depth) {
    const float* from = b + first;
    const int64_t present = std::min(panel, columns - first);
    if (present == 32 && panel == 32) {
      pack_whole_columns<32>(from, stride, depth, out);
    } else if (present == 16 && panel == 16) {
      pack_whole_columns<16>(from, stride, depth, out);
    } else {
      for (int64_t l = 0; l < depth; ++l) {
        for (int64_t j = 0; j < panel; ++j) out[l * panel + j] = j < present ? from[l * stride + j] : 0;
      }
    }
  }
}

}  // namespace perfcast
