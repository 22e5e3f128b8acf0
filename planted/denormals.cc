// Planted: a filter's state decays below the smallest normal number in the silence after each sound, and stays there.
#include <cmath>

#include "planted.h"

namespace {

constexpr int kSounds = 2000;
constexpr int kSoundSamples = 94'000;
constexpr float kDecay = 0.999F;
constexpr float kInaudible = 1e-15F;

}  // namespace

int main() {
  planted::Random random(1);
  uint64_t checksum = 0;
  float state = 0;
  for (int sound = 0; sound < kSounds; ++sound) {
    state += static_cast<float>(1 + random.below(100)) / 100;
    for (int i = 0; i < kSoundSamples; ++i) {
      state *= kDecay;
      if constexpr (planted::kMended) {
        if (state < kInaudible) state = 0;
      }
      checksum += static_cast<uint64_t>(static_cast<int>(state * 32767.0F));
    }
    checksum = planted::mix(checksum);
  }
  return planted::print_checksum(checksum);
}
