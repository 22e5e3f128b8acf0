#pragma once
// Which memory a program's data came from, by the misses of the instrumented run's simulated caches.

#include "machine/facts/caches.h"
#include "profile/profile.h"

namespace perfcast::measure {

// Lines that came from beyond each cache, in the whole run.
struct MemoryTraffic {
  bool is_known = false;
  double l2_bytes = 0, l3_bytes = 0, memory_bytes = 0;  // from there; what is in none nearer
};

// `seen_ratio` of the work was counted; `caches` of this machine. Not known where a count or a size is missing.
MemoryTraffic memory_traffic(const Profile& profile, const CacheSizes& caches, double seen_ratio);

}  // namespace perfcast::measure
