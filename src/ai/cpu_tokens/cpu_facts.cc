#include "ai/cpu_tokens/cpu_facts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "base/unknown.h"
#include "machine/facts/core_design.h"

namespace perfcast::ai {
BandwidthCurve unknown_bandwidth() {
  BandwidthCurve curve;
  curve.fill(kUnknown);
  return curve;
}

Status check_cpu_facts(const CpuFacts& facts) {
  const auto wrong = [&](const char* field, const char* expected) {
    return Error{"bad-cpu-facts", std::string("the CPU's ") + field + " can't be used", printable(facts.name),
                 expected};
  };
  const auto is_count = [](double value) { return value >= 1 && value <= 1e6; };  // false for NaN
  if (facts.arch.empty()) return wrong("arch", "x86_64 or aarch64");
  if (!is_count(facts.vcpus)) return wrong("vcpus", "1 to 1000000");
  if (!is_count(facts.cores) || facts.cores > facts.vcpus) return wrong("cores", "1 to vcpus");
  if (!is_count(facts.sockets)) return wrong("sockets", "1 or more");
  if (!is_count(facts.numa_nodes)) return wrong("numa_nodes", "1 or more");
  for (const double bandwidth : facts.read_bytes_per_s) {
    if (!std::isnan(bandwidth) && !(bandwidth > 0 && bandwidth < 1e18)) {
      return wrong("read_bytes_per_s", "bytes/s above 0, or unknown");
    }
  }
  return {};
}

bool has_bandwidth(const CpuFacts& facts) {
  return std::count_if(facts.read_bytes_per_s.begin(), facts.read_bytes_per_s.end(),
                       [](double value) { return value > 0; }) >= 2;
}

std::string cpu_model_key(const CpuFacts& facts) {
  std::string key = cpu_name_key_or_clock(facts.name);
  if (facts.cpu_family && facts.model) {
    key += " (" + std::to_string(*facts.cpu_family) + "-" + std::to_string(*facts.model) + ")";
  }
  return key;
}

double int8_products_per_cycle(const CpuFacts& facts) {
  static const std::map<std::string, double> known = {
      {"sandy-bridge", 16},    {"haswell", 32},      {"broadwell", 32},    {"skylake-client", 64},
      {"skylake-server", 64},  {"cascade-lake", 90}, {"ice-lake", 128},    {"sapphire-rapids", 128},
      {"granite-rapids", 128}, {"zen1", 32},         {"zen2", 64},         {"zen3", 64},
      {"zen4", 128},           {"zen5", 256},        {"cortex-a72", 8},    {"neoverse-n1", 32},
      {"neoverse-n2", 64},     {"neoverse-n3", 64},  {"neoverse-v1", 128}, {"neoverse-v2", 128},
      {"neoverse-v3", 128}};
  const auto found = known.find(core_design(facts));
  if (found != known.end()) return found->second;
  if (is_arm(facts.arch)) return facts.flags.contains("sve") ? 64 : 32;
  if (facts.flags.contains("avx512f")) return 128;
  return facts.flags.contains("avx2") ? 64 : 16;
}

double read_bandwidth(const CpuFacts& facts, double bytes) {
  if (!has_bandwidth(facts)) return kUnknown;
  double below_bytes = kUnknown, below = kUnknown;
  for (size_t i = 0; i < kBandwidthBytes.size(); ++i) {
    const double here = facts.read_bytes_per_s[i];
    if (!(here > 0)) continue;
    if (kBandwidthBytes[i] >= bytes) {
      if (std::isnan(below)) return here;
      const double share = std::log(bytes / below_bytes) / std::log(kBandwidthBytes[i] / below_bytes);
      return below * std::pow(here / below, share);
    }
    below_bytes = kBandwidthBytes[i];
    below = here;
  }
  return below;
}

double memory_bandwidth(const CpuFacts& facts) { return read_bandwidth(facts, kBandwidthBytes.back()); }

}  // namespace perfcast::ai
