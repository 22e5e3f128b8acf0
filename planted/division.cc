// Planted: the place in a ring buffer is taken by a 64-bit remainder for every sample; mended, by a mask.
#include <vector>

#include "planted.h"

namespace {

constexpr uint64_t kSamples = 250'000'000;

// An echo: each sample is mixed with what the ring held at its place.
uint64_t echo(std::vector<uint32_t>& ring, uint64_t samples, uint64_t step) {
  const uint64_t size = ring.size();  // a power of two
  uint64_t place = 0;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < samples; ++i) {
    ring[place] = ring[place] / 2 + static_cast<uint32_t>(i);
    sum += ring[place];
    place = planted::kMended ? (place + step) & (size - 1) : (place + step) % size;
  }
  return sum;
}

}  // namespace

int main(int argc, char**) {
  std::vector<uint32_t> ring(static_cast<size_t>(4096) *
                             static_cast<size_t>(argc));  // a size that the compiler does not know
  return planted::print_checksum(planted::mix(echo(ring, kSamples, 37)));
}
