#include "ai/transformer/weight_source.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace perfcast::ai {

Status RandomWeights::row(WeightPart part, int64_t layer, int64_t row, std::span<float> values) const {
  if (part == WeightPart::kAttentionNorm || part == WeightPart::kFfnNorm || part == WeightPart::kFinalNorm) {
    std::fill(values.begin(), values.end(), 1.0f);
    return {};
  }
  const uint64_t place =
      (static_cast<uint64_t>(part) << 56) ^ (static_cast<uint64_t>(layer) << 40) ^ static_cast<uint64_t>(row);
  Random random(seed_ ^ (place * 0x9E3779B97F4A7C15U));
  double deviation = 1 / std::sqrt(static_cast<double>(values.size()));
  if (part == WeightPart::kAttentionOutput || part == WeightPart::kDown) {
    deviation /= std::sqrt(2.0 * static_cast<double>(layers_));
  }
  // Two numbers of each draw, from -1 to 1, whose deviation is 1 / sqrt(3).
  const auto step = static_cast<float>(deviation * std::sqrt(3.0) * 0x1.0p-31);
  for (size_t i = 0; i < values.size(); i += 2) {
    const uint64_t drawn = random.next();
    values[i] = static_cast<float>(static_cast<int32_t>(drawn >> 32)) * step;
    if (i + 1 < values.size()) values[i + 1] = static_cast<float>(static_cast<int32_t>(drawn)) * step;
  }
  return {};
}

}  // namespace perfcast::ai
