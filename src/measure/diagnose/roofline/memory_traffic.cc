#include "measure/diagnose/roofline/memory_traffic.h"

#include <algorithm>
#include <optional>
#include <string>

#include "profile/core/memory_counts.h"

namespace perfcast::measure {
namespace {

constexpr double kTrafficLineBytes = 64;

}  // namespace

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
