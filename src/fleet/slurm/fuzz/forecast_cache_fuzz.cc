// Any bytes: no crash; a cache that is read is written as text that reads back as the same text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fleet/slurm/forecast_cache.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::fleet;
  const auto cache = parse_forecast_cache({reinterpret_cast<const char*>(data), size}, "input");
  if (!cache) return 0;
  for (const CacheEntry& entry : cache->entries) {
    if (entry.chosen.empty() || entry.ranking.empty() || cache->find(entry.program) != &entry) std::abort();
  }
  const std::string text = to_text(*cache);
  const auto again = parse_forecast_cache(text, "again");
  if (!again || to_text(*again) != text) std::abort();
  return 0;
}
