#pragma once
// The next token from logits.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"

namespace perfcast::ai {

struct SamplingSettings {
  double temperature = 0;  // 0: the likeliest token, of equal ones the first
  int64_t top = 0;         // among so many of the likeliest; 0: all
  uint64_t seed = 0;
};

// One sequence's choices.
class TokenSampler {
 public:
  explicit TokenSampler(const SamplingSettings& settings) : settings_(settings), random_(settings.seed) {}
  // `logits` isn't empty. Of logits that aren't numbers none is chosen, as long as one is.
  int32_t choose(std::span<const float> logits);

 private:
  SamplingSettings settings_;
  Random random_;
  std::vector<std::pair<float, int32_t>> ranked_;
};

}  // namespace perfcast::ai
