#include "place/workload/product_on_cpu.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ai/latency/model/roofline_shares.h"
#include "machine/facts/core_design.h"
#include "machine/facts/processor.h"

namespace perfcast::place {
namespace {

// FLOP of one core in a cycle; 0: no units.
struct DesignRates {
  double fp32 = 0, half = 0, int8 = 0;
};

// Two 512-bit multiply-adds: 64. AMX: 16 x 16 sums of 32 (bf16) or 64 (int8) products every 16 cycles.
DesignRates rates_of(const ai::CpuFacts& facts) {
  static const std::map<std::string, DesignRates> known = {{"sandy-bridge", {16, 0, 0}},
                                                           {"haswell", {32, 0, 0}},
                                                           {"broadwell", {32, 0, 0}},
                                                           {"skylake-client", {32, 0, 0}},
                                                           {"skylake-server", {64, 0, 0}},
                                                           {"cascade-lake", {64, 0, 256}},
                                                           {"ice-lake", {64, 0, 256}},
                                                           {"sapphire-rapids", {64, 0, 256}},
                                                           {"granite-rapids", {64, 0, 256}},
                                                           {"zen1", {16, 0, 0}},
                                                           {"zen2", {32, 0, 0}},
                                                           {"zen3", {32, 0, 0}},
                                                           {"zen4", {32, 64, 128}},
                                                           {"zen5", {64, 128, 256}},
                                                           {"cortex-a72", {8, 0, 0}},
                                                           {"neoverse-n1", {16, 0, 0}},
                                                           {"neoverse-n2", {16, 0, 0}},
                                                           {"neoverse-n3", {16, 0, 0}},
                                                           {"neoverse-v1", {32, 0, 0}},
                                                           {"neoverse-v2", {32, 0, 0}},
                                                           {"neoverse-v3", {32, 0, 0}}};
  const auto found = known.find(core_design(facts));
  DesignRates rates;
  if (found != known.end()) {
    rates = found->second;
  } else if (is_arm(facts.arch)) {
    rates.fp32 = facts.flags.contains("sve") ? 32 : 16;
  } else {
    rates.fp32 = facts.flags.contains("avx512f") ? 64 : facts.flags.contains("avx2") ? 32 : 16;
  }
  if (facts.flags.contains("amx")) {
    rates.half = 1024;
    rates.int8 = 2048;
  }
  return rates;
}

}  // namespace

double busy_clock_hz(double base_hz, double highest_hz) {
  if (!(base_hz > 0)) return highest_hz > 0 ? highest_hz : kUnknown;
  return highest_hz > base_hz ? std::sqrt(base_hz * highest_hz) : kUsualOverBase * base_hz;
}

CpuRate cpu_rate(const ai::CpuFacts& facts, ai::Precision precision) {
  const DesignRates rates = rates_of(facts);
  const double share = facts.flags.contains("amx") ? kAmxShare : ai::kRooflineCompute;
  // The matrix and vector units take bf16 and no fp16.
  if (precision == ai::Precision::kBf16 && rates.half > 0) return {rates.half, ai::Precision::kBf16, share};
  if (precision == ai::Precision::kInt8 && rates.int8 > 0) return {rates.int8, ai::Precision::kInt8, share};
  return {rates.fp32, ai::Precision::kFp32, ai::kRooflineCompute};
}

CpuProductTime product_on_cpu(const ai::CpuFacts& facts, double clock_hz, ai::Precision precision, double operations,
                              double bytes) {
  const CpuRate rate = cpu_rate(facts, precision);
  CpuProductTime best;
  best.computed_in = rate.computed_in;
  if (!(clock_hz > 0) || !ai::has_bandwidth(facts)) return best;
  for (const double threads : {1.0, facts.cores}) {
    const double compute_s = operations / (threads * rate.flops_per_cycle * clock_hz * rate.share);
    // Bandwidth is that of all vCPUs together while each reads its share.
    const double vcpus = threads > 1 ? facts.vcpus : 1;
    const double bytes_per_s = ai::read_bandwidth(facts, bytes / vcpus) * vcpus / facts.vcpus;
    const double memory_s = bytes / (bytes_per_s * ai::kRooflineMemory);
    const double start_s = threads > 1 ? kCpuThreadStart_s : ai::shortest_kernel_s(DeviceKind::kCpu);
    const double seconds = start_s + std::max(compute_s, memory_s);
    if (seconds >= best.seconds) continue;  // false for the first: nothing is known yet
    best.seconds = seconds;
    best.threads = threads;
    const bool starts = start_s >= std::max(compute_s, memory_s);
    best.bound = starts ? PlaceBound::kLaunch : compute_s >= memory_s ? PlaceBound::kCompute : PlaceBound::kMemory;
  }
  return best;
}

}  // namespace perfcast::place
