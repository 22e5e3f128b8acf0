#include "measure/diagnose/roofline/memory_traffic.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace perfcast::measure {
namespace {

constexpr double kTrafficLineBytes = 64;

struct SimulatedCache {
  const char* name;
  double bytes;
};
constexpr SimulatedCache kSimulatedCaches[] = {{"32k", 32 << 10},   {"48k", 48 << 10},   {"64k", 64 << 10},
                                               {"256k", 256 << 10}, {"512k", 512 << 10}, {"1m", 1 << 20},
                                               {"2m", 2 << 20},     {"4m", 4 << 20},     {"8m", 8 << 20},
                                               {"16m", 16 << 20},   {"32m", 32 << 20},   {"64m", 64 << 20}};

}  // namespace

std::string nearest_simulated_cache(double bytes) {
  const auto* best = std::min_element(
      std::begin(kSimulatedCaches), std::end(kSimulatedCaches), [&](const SimulatedCache& a, const SimulatedCache& b) {
        return std::abs(std::log(a.bytes / bytes)) < std::abs(std::log(b.bytes / bytes));
      });
  return best->name;
}

MemoryTraffic memory_traffic(const Profile& profile, const CacheSizes& caches, double seen_ratio) {
  if (!caches.l1d_bytes || !caches.l2_bytes || !(seen_ratio > 0)) return {};
  // Counts of a run that was cut were stretched to all of the work by a typical rate.
  const double counted = profile.partly_seen ? profile.partly_seen->seen_ratio : 1;
  const auto beyond = [&](double bytes) -> std::optional<double> {
    const auto found = profile.metrics.find("miss_" + nearest_simulated_cache(bytes) + "_count");
    if (found == profile.metrics.end()) return std::nullopt;
    return kTrafficLineBytes * found->second * counted / seen_ratio;
  };
  const auto l1 = beyond(*caches.l1d_bytes), l2 = beyond(*caches.l2_bytes);
  const auto l3 = caches.l3_bytes ? beyond(*caches.l3_bytes) : l2;
  if (!l1 || !l2 || !l3) return {};
  return {true, std::max(0.0, *l1 - *l2), std::max(0.0, *l2 - *l3), *l3};
}

}  // namespace perfcast::measure
