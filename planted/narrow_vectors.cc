// Planted: sounds are mixed one number at a time, in registers that hold many.
#include "planted.h"

namespace {

constexpr size_t kSamples = 4096;
constexpr int kPasses = 500'000;

#if PLANTED_MENDED && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PLANTED_WIDE __attribute__((optimize("O3"), target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#elif PLANTED_MENDED && defined(__GNUC__) && !defined(__clang__)
#define PLANTED_WIDE __attribute__((optimize("O3")))
#elif defined(__GNUC__) && !defined(__clang__)
#define PLANTED_WIDE __attribute__((optimize("no-tree-vectorize")))
#else
#define PLANTED_WIDE
#endif

PLANTED_WIDE void mix_sound(int32_t* __restrict mixed, const int32_t* __restrict sound, int32_t volume,
                            size_t samples) {
  for (size_t i = 0; i < samples; ++i) mixed[i] = (mixed[i] >> 1) + sound[i] * volume;
}

}  // namespace

int main() {
  planted::Random random(1);
  alignas(64) static int32_t mixed[kSamples], sound[kSamples];
  for (int32_t& sample : sound) sample = static_cast<int32_t>(random.below(1 << 16));
  for (int pass = 0; pass < kPasses; ++pass) mix_sound(mixed, sound, pass % 256, kSamples);
  uint64_t checksum = 0;
  for (const int32_t sample : mixed) checksum = planted::mix(checksum + static_cast<uint64_t>(sample));
  return planted::print_checksum(checksum);
}
