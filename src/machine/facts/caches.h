#pragma once
// Sizes of a processor's caches, wherever they come from.

#include <array>
#include <optional>
#include <string_view>

namespace perfcast {

// Of one instance each; absent where it isn't known.
struct CacheSizes {
  std::optional<double> l1d_bytes, l1i_bytes, l2_bytes, l3_bytes;
  bool operator==(const CacheSizes&) const = default;
};

// The names that they have in JSON and among the facts of platforms.
struct CacheField {
  const char* name;
  std::optional<double> CacheSizes::*bytes;
};
inline constexpr std::array<CacheField, 4> kCacheFields = {{{"l1d_bytes", &CacheSizes::l1d_bytes},
                                                            {"l1i_bytes", &CacheSizes::l1i_bytes},
                                                            {"l2_bytes", &CacheSizes::l2_bytes},
                                                            {"l3_bytes", &CacheSizes::l3_bytes}}};

// As lscpu writes them: "131072 (4 instances)", the bytes of all; "131072" is of one.
struct CacheInstances {
  double bytes = 0;  // of one
  double count = 1;
};
std::optional<CacheInstances> parse_cache_instances(std::string_view text);

// What the C library says of the processor that this runs on.
CacheSizes caches_of_this_processor();

}  // namespace perfcast
