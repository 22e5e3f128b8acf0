// Planted: an image is smoothed by a plain loop that is compiled with -O0; mended, the same source with -O2.
#include <cstddef>
#include <vector>

#include "planted.h"

namespace {

constexpr ptrdiff_t kWidth = 512;
constexpr ptrdiff_t kHeight = 512;
constexpr int kPasses = 1000;

void smooth(const int* in, int* out) {
  for (ptrdiff_t y = 1; y < kHeight - 1; ++y) {
    for (ptrdiff_t x = 1; x < kWidth - 1; ++x) {
      const int* at = in + y * kWidth + x;
      const int corners = at[-kWidth - 1] + at[-kWidth + 1] + at[kWidth - 1] + at[kWidth + 1];
      const int edges = at[-kWidth] + at[-1] + at[1] + at[kWidth];
      out[y * kWidth + x] = (corners + 2 * edges + 4 * at[0] + 8) / 16;
    }
  }
}

}  // namespace

int main() {
  planted::Random random(1);
  std::vector<int> image(kWidth * kHeight);
  std::vector<int> smoothed(kWidth * kHeight);
  for (int& pixel : image) pixel = static_cast<int>(random.below(1 << 16));
  for (int pass = 0; pass < kPasses; ++pass) {
    smooth(image.data(), smoothed.data());
    image.swap(smoothed);
  }
  uint64_t checksum = 0;
  for (const int pixel : image) checksum = planted::mix(checksum + static_cast<uint64_t>(pixel));
  return planted::print_checksum(checksum);
}
