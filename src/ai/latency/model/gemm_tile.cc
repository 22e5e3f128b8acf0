#include "ai/latency/model/gemm_tile.h"

#include <algorithm>
#include <cmath>

namespace perfcast::ai {
namespace {

constexpr double kBytes = 4;  // fp32

// (a^4 + b^4 + c^4)^(1/4): the largest, a little more where two are alike.
double smooth_max(double a, double b, double c) {
  const double aa = a * a, bb = b * b, cc = c * c;
  return std::sqrt(std::sqrt(aa * aa + bb * bb + cc * cc));
}

double power(double base, double exponent) { return std::exp2(exponent * std::log2(base)); }

}  // namespace

DeviceRates rates_of(const DeviceFacts& device, MathMode mode) {
  return {device.units, device.peak(mode), device.memory_bytes_per_s, device.l2_bytes};
}

const std::array<TileTermInfo, kTileTerms>& tile_terms() {
  static const std::array<TileTermInfo, kTileTerms> kTerms = {{
      {"launch_s", 8e-6, 1e-6, 1e-4},
      {"efficiency_ratio", 0.9, 0.2, 1.15},
      {"prologue_steps", 16, 0.01, 500},
      {"tail_waves", 0.05, 1e-4, 3},
      {"cache_rate_ratio", 3, 0.3, 60},
      {"memory_rate_ratio", 1, 0.1, 20},
      {"cache_share_ratio", 1, 0.02, 100},
      {"cache_sharpness", 2, 0.5, 8},
      {"stream_rate_ratio", 0.8, 0.3, 1},
      {"throttle_ratio", 0.05, 1e-4, 3},
      {"throttle_after_s", 5e-3, 1e-4, 1},
      {"misaligned_ratio", 0.02, 1e-4, 0.3},
      {"misaligned_bytes_ratio", 0.1, 1e-4, 2},
      {"span_slowdown_ratio", 0.1, 1e-4, 8},
      {"span_reach_bytes", 1e8, 3e6, 3e10},
      {"span_sharpness", 1.5, 0.5, 6},
      {"span_of_m_ratio", 1, 0.01, 100},
      {"whole_waves_odds", 1, 0.02, 50},
      {"along_n_odds", 1, 0.02, 50},
      {"resident_blocks", 2, 1, 8},
      {"sweep_n_ratio", 0.01, 1e-5, 1},
      {"sweep_m_ratio", 0.01, 1e-5, 1},
      {"lockstep_steps", 1000, 32, 1e5},
  }};
  return kTerms;
}

TileTime tile_time(const TileKernel& kernel, const DeviceRates& rates, const ProductShape& shape, double split_k) {
  using T = TileTerm;
  const double blocks_n = std::ceil(shape.n / kernel.tile_m), blocks_m = std::ceil(shape.m / kernel.tile_n);
  const double in_one = blocks_n * blocks_m;
  const double blocks = in_one * shape.batch * split_k;
  const double k = shape.k / split_k;
  const bool misaligned = std::fmod(shape.k, 8) != 0;

  const double waves = blocks / rates.units;
  const double whole = kernel[T::kWholeWaves] / (1 + kernel[T::kWholeWaves]);
  const double steps = std::max(whole * std::ceil(waves) + (1 - whole) * waves, 1.0);
  TileTime time;
  time.compute_s = 2 * kernel.tile_m * kernel.tile_n * (k + kernel[T::kPrologue]) * rates.units /
                   (rates.peak_flops * kernel[T::kEfficiency]) * (steps + kernel[T::kTail]);

  // Every block asks for its rows of both operands. What blocks that run at once ask for together is asked of memory
  // once, as long as it stays in the cache.
  const double requested =
      blocks * (kernel.tile_m + kernel.tile_n) * k * kBytes * (1 + (misaligned ? kernel[T::kMisalignedBytes] : 0));
  const double running = std::min(rates.units * kernel[T::kResident], blocks);
  const double products = std::max(running / in_one, 1.0), of_one = std::min(running, in_one);
  const double along_n =
      products * (std::min(of_one, blocks_n) * kernel.tile_m + std::max(of_one / blocks_n, 1.0) * kernel.tile_n);
  const double along_m =
      products * (std::max(of_one / blocks_m, 1.0) * kernel.tile_m + std::min(of_one, blocks_m) * kernel.tile_n);
  const double order = kernel[T::kAlongN] / (1 + kernel[T::kAlongN]);
  const double depth = k * kernel[T::kLockstep] / (k + kernel[T::kLockstep]);
  const double footprint =
      (order * along_n + (1 - order) * along_m + kernel[T::kSweepN] * shape.n + kernel[T::kSweepM] * shape.m) * depth *
      kBytes;
  const double misses =
      1 / (1 + power(footprint / (kernel[T::kCacheShare] * rates.l2_bytes), -kernel[T::kCacheSharpness]));
  time.cache_s =
      requested / rates.memory_bytes_per_s * ((1 - misses) / kernel[T::kCacheRate] + misses / kernel[T::kMemoryRate]);

  const double compulsory =
      (shape.m * shape.k + shape.k * shape.n + shape.m * shape.n * (2 * split_k - 1)) * shape.batch * kBytes;
  time.memory_s = compulsory / (rates.memory_bytes_per_s * kernel[T::kStreamRate]);

  const double rows =
      std::min(of_one, blocks_n) * kernel.tile_m + kernel[T::kSpanOfM] * std::min(of_one, blocks_m) * kernel.tile_n;
  const double span = power(rows * shape.k * kBytes / kernel[T::kSpanReach], kernel[T::kSpanSharpness]);
  double seconds = smooth_max(time.compute_s, time.cache_s, time.memory_s);
  seconds *= 1 + kernel[T::kSpanSlowdown] * span / (1 + span);
  seconds *= 1 + kernel[T::kThrottle] * seconds / (seconds + kernel[T::kThrottleAfter]);
  if (misaligned) seconds *= 1 + kernel[T::kMisaligned];
  time.seconds = seconds;
  return time;
}

}  // namespace perfcast::ai
