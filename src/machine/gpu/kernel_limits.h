#pragma once
// What every kernel on a GPU obeys, whatever it computes.

#include <cmath>
#include <cstdint>

#include "machine/facts/device_facts.h"

namespace perfcast {

// std::ceil without a call, of what is not negative.
inline double rounded_up(double value) {
  if (!(value < 0x1p52)) return value;
  const auto whole = static_cast<double>(static_cast<int64_t>(value));
  return whole < value ? whole + 1 : whole;
}

// Rounds of thread blocks: `units` of them run at a time, and a round that was started takes as long as a full one.
inline double waves(double blocks, double units) { return rounded_up(blocks / units); }

// Two costs that hide each other in part, the more so the larger q is: their sum at 1, the larger one at infinity.
inline double overlapped(double a, double b, double q) {
  const double larger = a > b ? a : b, smaller = a > b ? b : a;
  return smaller > 0 ? larger * std::pow(1 + std::pow(smaller / larger, q), 1 / q) : larger;
}

// The share of `bytes` that the last cache serves where a kernel runs over them again and again: all that fits well,
// nothing of what is much larger, since a sweep pushes out what it needs next. 0 where the cache isn't known.
inline double cached_share(double bytes, double cache_bytes, double sharpness) {
  return cache_bytes > 0 ? 1 / (1 + std::pow(bytes / cache_bytes, sharpness)) : 0;
}

// Whether its matrix units draw their operands from shared memory by themselves (Hopper's wgmma, tcgen05 of Blackwell
// in data centres), told by what a multiprocessor computes in a cycle: 3,000 FLOP in half precision and more. The
// others are fed from registers: 512 to 2,048 FLOP a cycle (Volta, Turing, Ampere, Ada, Blackwell of work stations).
inline bool has_self_feeding_matrix_units(const DeviceFacts& device) {
  return device.peak(MathMode::kHalf) > 3000 * device.units * device.clock_hz;
}

}  // namespace perfcast
