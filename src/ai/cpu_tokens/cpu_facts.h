#pragma once
// What is known about a CPU as one machine or virtual machine sees it: model, size, caches, vector units, and read
// bandwidth measured at sizes from a level-1 cache to memory.

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unknown.h"
#include "machine/facts/caches.h"
#include "machine/facts/processor.h"

namespace perfcast::ai {

// Bytes that each vCPU reads again and again, all vCPUs at the same time, each its own (lmbench's bw_mem, "rd").
inline constexpr std::array<double, 11> kBandwidthBytes = {16384, 262144, 1e6,  2e6,   4e6,  8e6,
                                                           16e6,  32e6,   64e6, 256e6, 512e6};
using BandwidthCurve = std::array<double, kBandwidthBytes.size()>;  // bytes/s, the sum over all vCPUs

BandwidthCurve unknown_bandwidth();

// `vendor` is as people write it: "Intel", "AMD", "ARM".
struct CpuFacts : ProcessorIdentity, CacheSizes {
  std::set<std::string> flags;  // of avx2, avx512f, amx, sve, asimd, sha
  double vcpus = kUnknown;
  double cores = kUnknown;  // physical ones; the programs run one thread on each
  double sockets = 1, numa_nodes = 1;
  double l3_count = kUnknown;  // instances of the level-3 cache
  double memory_gib = kUnknown;
  BandwidthCurve read_bytes_per_s = unknown_bandwidth();
  bool bandwidth_imputed = false;             // of other machines, not measured on this one
  double most_memory_bytes_per_s = kUnknown;  // by the data sheet of its memory; unknown for most
};

// "bad-cpu-facts" names the first field that can't be used. Bandwidth may be unknown.
Status check_cpu_facts(const CpuFacts& facts);
bool has_bandwidth(const CpuFacts& facts);  // at two sizes or more

// Name without trade marks, clock and core count, with family and model: machines with one key are one CPU model.
// A name that tells no number keeps its clock.
std::string cpu_model_key(const CpuFacts& facts);

// Products of 8-bit numbers that a core's vector units (not AMX) make in a cycle, from the vendors' manuals: AVX2
// without VNNI two instructions for 32; with VNNI 32 each on two ports; Arm's dot product 16 per 128 bits. Guessed from
// the flags where the design is unknown.
double int8_products_per_cycle(const CpuFacts& facts);

// Bytes/s of all vCPUs together while each reads its own `bytes`: between two measured sizes on a line through their
// logarithms, beyond them the nearest. Unknown sizes are left out; NaN where has_bandwidth is false.
double read_bandwidth(const CpuFacts& facts, double bytes);
double memory_bandwidth(const CpuFacts& facts);  // at the largest size

}  // namespace perfcast::ai
