#include "ai/latency/model/vector_time.h"

#include <algorithm>
#include <cmath>

namespace perfcast::ai {

const std::array<VectorTermInfo, kVectorTerms>& vector_terms() {
  static const std::array<VectorTermInfo, kVectorTerms> kTerms = {{
      {"launch_s", 8e-6, 5e-7, 1e-4},
      {"stream_rate_ratio", 0.8, 0.2, 1.1},
      {"cache_gain_ratio", 3, 0.5, 30},
      {"cache_share_ratio", 0.5, 0.02, 5},
      {"cache_sharpness", 2, 0.5, 8},
      {"row_cycles", 200, 1, 1e5},
      {"element_cycles", 4, 0.01, 500},
      {"misaligned_ratio", 0.05, 1e-4, 2},
  }};
  return kTerms;
}

double vector_seconds(const VectorModel& model, const DeviceRates& rates, double clock_hz, double rows, double columns,
                      double bytes_per_value) {
  using T = VectorTerm;
  const double bytes = rows * columns * bytes_per_value * model.passes;
  const double share = bytes / (model[T::kCacheShare] * rates.l2_bytes);
  const double misses = 1 / (1 + std::exp2(-model[T::kCacheSharpness] * std::log2(share)));
  const double stream_s =
      bytes / (rates.memory_bytes_per_s * model[T::kStreamRate]) * ((1 - misses) / model[T::kCacheGain] + misses);
  if (model.rows == RowShape::kFlat) return stream_s;
  const double padded = model.rows == RowShape::kWarp ? std::exp2(std::ceil(std::log2(std::max(columns, 32.0))))
                                                      : std::ceil(columns / 128) * 128;
  const double work_s =
      rows * (model[T::kRowCycles] + model[T::kElementCycles] * padded / 32) / (rates.units * clock_hz);
  const double a = stream_s * stream_s, b = work_s * work_s;
  const bool misaligned = std::fmod(columns, 4) != 0;
  return std::sqrt(std::sqrt(a * a + b * b)) * (1 + (misaligned ? model[T::kMisaligned] : 0));
}

const VectorModel& VectorModels::of(VectorKind kind, double columns) const {
  switch (kind) {
    case VectorKind::kBinary:
      return binary;
    case VectorKind::kSoftmax:
      return columns <= kLongestWarpRow ? short_softmax : long_softmax;
    case VectorKind::kNorm:
      return norm;
    case VectorKind::kUnary:
    case VectorKind::kCopy:
      return unary;
  }
  return unary;
}

}  // namespace perfcast::ai
