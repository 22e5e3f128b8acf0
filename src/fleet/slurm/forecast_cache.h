#pragma once
// The forecasts that the job_submit plugin looks up: one small text file on the controller's own disk. Tab-separated,
// one line per program, so that a few lines of Lua can read it:
//
//   perfcast-forecasts/1 <tab> act|observe <tab> written, nanoseconds since 1970 <tab> oldest valid forecast, seconds
//   program <tab> made, seconds since 1970 <tab> best,also-best <tab> best=0.61[0.55..0.68] <tab> also-best=... <tab>
//   ...
//
// The third field is the choice; from the fourth on come all partitions with their relative times and 90% intervals,
// best first. Every line ends in a newline: a file that was cut off is seen.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perfcast::fleet {

enum class CacheMode { kAct, kObserve };  // fill in the partition, or only log what would be filled in

struct CachedForecast {
  std::string partition;
  double rpv = 1, lower = 1, upper = 1;  // relative times, 1e-9 to 1e9; 90% interval
};

struct CacheEntry {
  std::string program;                  // key: is_plain_name()
  int64_t made_unix_s = 0;              // when the forecast was made
  std::vector<std::string> chosen;      // partitions of `ranking`, at least one
  std::vector<CachedForecast> ranking;  // best first
};

struct ForecastCache {
  CacheMode mode = CacheMode::kAct;
  int64_t written_unix_ns = 0;                     // changes with every writing: readers know by it what they have read
  int64_t oldest_valid_s = int64_t{365} * 86'400;  // entries older than this are not used
  std::vector<CacheEntry> entries;                 // sorted by program

  const CacheEntry* find(std::string_view program) const;
  // Adds or replaces. Of a full cache the oldest entry goes.
  void put(CacheEntry entry);
};

inline constexpr size_t kMostCacheEntries = 20'000;
inline constexpr size_t kMostCachedPartitions = 64;
inline constexpr size_t kLargestCacheBytes = size_t{4} << 20;  // job_submit.lua has the same limit

// Errors: "bad-cache" with the line, "file-too-large".
Result<ForecastCache> parse_forecast_cache(std::string_view text, const std::string& source);
Result<ForecastCache> read_forecast_cache(const std::string& path);
// Reads back as the same cache, with relative times of four digits.
std::string to_text(const ForecastCache& cache);

// Reads the cache (an absent one is empty), lets `change` change it, and writes it atomically with the time stamp
// `now_unix_ns`, under a lock (PATH.lock) that other updates wait for. A broken cache is an error, never overwritten.
Status update_forecast_cache(const std::string& path, int64_t now_unix_ns,
                             const std::function<Status(ForecastCache&)>& change);

std::string to_string(CacheMode mode);  // "act", "observe"

}  // namespace perfcast::fleet
