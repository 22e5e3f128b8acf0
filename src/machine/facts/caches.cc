#include "machine/facts/caches.h"

#include <unistd.h>

#include <charconv>
#include <cstdint>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast {

std::optional<CacheInstances> parse_cache_instances(std::string_view text) {
  const size_t open = text.find('(');
  const auto total = parse_number(trim(text.substr(0, open)));
  if (!total || !(*total > 0)) return std::nullopt;
  int64_t instances = 1;
  if (open != std::string_view::npos) {
    const char* const first = text.data() + open + 1;
    if (std::from_chars(first, text.data() + text.size(), instances).ec != std::errc() || instances < 1) {
      return std::nullopt;
    }
  }
  const auto count = static_cast<double>(instances);
  return CacheInstances{*total / count, count};
}

CacheSizes caches_of_this_processor() {
  CacheSizes sizes;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  const auto ask = [](int name) -> std::optional<double> {
    const long bytes = sysconf(name);
    return bytes > 0 ? std::optional(static_cast<double>(bytes)) : std::nullopt;
  };
  sizes.l1d_bytes = ask(_SC_LEVEL1_DCACHE_SIZE);
  sizes.l1i_bytes = ask(_SC_LEVEL1_ICACHE_SIZE);
  sizes.l2_bytes = ask(_SC_LEVEL2_CACHE_SIZE);
  sizes.l3_bytes = ask(_SC_LEVEL3_CACHE_SIZE);
#endif
  return sizes;
}

}  // namespace perfcast
