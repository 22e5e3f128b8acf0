#pragma once
// The time of a matrix product by one GPU kernel, in closed form: output tiles are handed to the units in waves, each
// wave limited by arithmetic, by the cache or by memory. Twenty-odd parameters with a physical meaning, fitted per
// device and kernel; what they multiply are facts of the device, so they can be carried to its kin.
//
// The kernels are cuBLAS's: column-major, so a row-major m x n result is tiled tile_m along n and tile_n along m.

#include <array>
#include <cstddef>
#include <string_view>

#include "ai/latency/model/operator_time.h"
#include "machine/facts/device_facts.h"

namespace perfcast::ai {

// What of a device enters the closed form.
struct DeviceRates {
  double units = 1;       // streaming multiprocessors
  double peak_flops = 1;  // of all units
  double memory_bytes_per_s = 1;
  double l2_bytes = 1;
};
DeviceRates rates_of(const DeviceFacts& device, MathMode mode);

enum class TileTerm : size_t {
  kLaunch,      // s before the first block runs
  kEfficiency,  // share of the peak that the inner loop reaches
  kPrologue,    // steps of k that filling and draining the pipeline costs
  kTail,        // waves that start and end cost
  kCacheRate,   // requested bytes per byte of memory bandwidth: when they hit the cache
  kMemoryRate,  // and when they miss it
  kCacheShare,  // of the cache's size: where the blocks that run at once begin to miss
  kCacheSharpness,
  kStreamRate,     // share of the memory bandwidth for what must move at least once
  kThrottle,       // slowdown of long kernels (power) ...
  kThrottleAfter,  // ... and after how many seconds
  kMisaligned,     // slowdown where k is no multiple of 8 (32 bytes) ...
  kMisalignedBytes,
  kSpanSlowdown,  // slowdown when the rows read at once span more address space than the TLB reaches ...
  kSpanReach,     // ... bytes
  kSpanSharpness,
  kSpanOfM,     // weight of the rows along m in that span
  kWholeWaves,  // odds that a partly filled wave costs as much as a full one
  kAlongN,      // odds that neighbouring blocks go along n (else along m)
  kResident,    // blocks per unit at once
  kSweepN,      // how much of the whole right and left operand competes for the cache
  kSweepM,
  kLockstep,  // steps of k that blocks may be apart and still share what they read
};
inline constexpr size_t kTileTerms = 23;

struct TileTermInfo {
  std::string_view name;  // in bundles, with its unit
  double start, least, most;
};
const std::array<TileTermInfo, kTileTerms>& tile_terms();

struct TileKernel {
  double tile_m = 128, tile_n = 64;
  std::array<double, kTileTerms> terms{};

  double operator[](TileTerm term) const { return terms[static_cast<size_t>(term)]; }
  double& operator[](TileTerm term) { return terms[static_cast<size_t>(term)]; }
};

struct TileTime {
  double seconds = 0;  // without launch
  double compute_s = 0, cache_s = 0, memory_s = 0;
};
// `split_k` >= 1: in how many parts k is cut. fp32: 4 bytes per value.
TileTime tile_time(const TileKernel& kernel, const DeviceRates& rates, const ProductShape& shape, double split_k);

}  // namespace perfcast::ai
