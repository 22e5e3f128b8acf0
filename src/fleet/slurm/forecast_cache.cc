#include "fleet/slurm/forecast_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "fleet/slurm/partitions.h"

namespace perfcast::fleet {
namespace {

constexpr std::string_view kMagic = "perfcast-forecasts/1";
constexpr double kLargestRatio = 1e9;

std::optional<int64_t> positive_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || text.empty() || value < 0) return std::nullopt;
  return value;
}

std::optional<double> ratio(std::string_view text) {
  const auto value = parse_number(text);
  if (!value || !(*value >= 1 / kLargestRatio && *value <= kLargestRatio)) return std::nullopt;
  return value;
}

// "epyc=0.61[0.55..0.68]"
std::optional<CachedForecast> parse_forecast(std::string_view text) {
  const size_t equals = text.find('='), open = text.find('['), dots = text.find("..", open);
  if (equals == std::string_view::npos || open == std::string_view::npos || dots == std::string_view::npos ||
      open < equals || !text.ends_with("]")) {
    return std::nullopt;
  }
  CachedForecast forecast;
  forecast.partition = text.substr(0, equals);
  const auto rpv = ratio(text.substr(equals + 1, open - equals - 1));
  const auto lower = ratio(text.substr(open + 1, dots - open - 1));
  const auto upper = ratio(text.substr(dots + 2, text.size() - dots - 3));
  if (!rpv || !lower || !upper || !is_plain_name(forecast.partition) || *lower > *rpv || *upper < *rpv) {
    return std::nullopt;
  }
  forecast.rpv = *rpv;
  forecast.lower = *lower;
  forecast.upper = *upper;
  return forecast;
}

std::optional<CacheEntry> parse_entry(std::string_view line) {
  const std::vector<std::string> fields = split(line, '\t');
  if (fields.size() < 4 || fields.size() > 3 + kMostCachedPartitions) return std::nullopt;
  CacheEntry entry;
  entry.program = fields[0];
  const auto made = positive_integer(fields[1]);
  if (!made || !is_plain_name(entry.program)) return std::nullopt;
  entry.made_unix_s = *made;
  std::set<std::string> names;
  for (size_t i = 3; i < fields.size(); ++i) {
    auto forecast = parse_forecast(fields[i]);
    if (!forecast || !names.insert(forecast->partition).second) return std::nullopt;
    entry.ranking.push_back(std::move(*forecast));
  }
  entry.chosen = split(fields[2], ',');
  std::set<std::string> chosen;
  for (const std::string& name : entry.chosen) {
    if (!names.contains(name) || !chosen.insert(name).second) return std::nullopt;
  }
  return entry;
}

}  // namespace

std::string to_string(CacheMode mode) { return mode == CacheMode::kAct ? "act" : "observe"; }

const CacheEntry* ForecastCache::find(std::string_view program) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const CacheEntry& entry) { return entry.program == program; });
  return found == entries.end() ? nullptr : &*found;
}

void ForecastCache::put(CacheEntry entry) {
  const auto by_program = [](const CacheEntry& a, const CacheEntry& b) { return a.program < b.program; };
  const auto place = std::lower_bound(entries.begin(), entries.end(), entry, by_program);
  if (place != entries.end() && place->program == entry.program) {
    *place = std::move(entry);
    return;
  }
  entries.insert(place, std::move(entry));
  const auto by_age = [](const CacheEntry& a, const CacheEntry& b) { return a.made_unix_s < b.made_unix_s; };
  if (entries.size() > kMostCacheEntries) entries.erase(std::min_element(entries.begin(), entries.end(), by_age));
}

Result<ForecastCache> parse_forecast_cache(std::string_view text, const std::string& source) {
  const auto refuse = [&](size_t line, const std::string& message, const std::string& expected) {
    return Error{"bad-cache", message, source + ":" + std::to_string(line), expected};
  };
  if (text.size() > kLargestCacheBytes) {
    return Error{"file-too-large", "the cache holds more than " + std::to_string(kLargestCacheBytes) + " bytes", source,
                 "a cache that perfcast slurm advise wrote"};
  }
  if (!text.ends_with('\n')) {
    return refuse(1, "the cache is empty or cut off", "lines that end in a newline; a file by perfcast slurm advise");
  }
  std::vector<std::string> lines = split(text.substr(0, text.size() - 1), '\n');
  const std::vector<std::string> head = split(lines[0], '\t');
  ForecastCache cache;
  const auto written = head.size() == 4 ? positive_integer(head[2]) : std::nullopt;
  const auto oldest = head.size() == 4 ? positive_integer(head[3]) : std::nullopt;
  if (!written || !oldest || head[0] != kMagic || (head[1] != "act" && head[1] != "observe")) {
    return refuse(1, "the first line is no head of a forecast cache", "a file by perfcast slurm advise --cache");
  }
  cache.mode = head[1] == "act" ? CacheMode::kAct : CacheMode::kObserve;
  cache.written_unix_ns = *written;
  cache.oldest_valid_s = *oldest;
  if (lines.size() - 1 > kMostCacheEntries) {
    return refuse(lines.size(), "the cache has more than " + std::to_string(kMostCacheEntries) + " programs", "fewer");
  }
  for (size_t i = 1; i < lines.size(); ++i) {
    auto entry = parse_entry(lines[i]);
    if (!entry) {
      return refuse(i + 1, "the line is no forecast: " + printable(lines[i].substr(0, 80)),
                    "program, seconds since 1970, chosen partitions, partition=time[lower..upper] ...");
    }
    if (!cache.entries.empty() && cache.entries.back().program >= entry->program) {
      return refuse(i + 1, "program " + entry->program + " is out of order or there twice", "programs sorted by name");
    }
    cache.entries.push_back(std::move(*entry));
  }
  return cache;
}

Result<ForecastCache> read_forecast_cache(const std::string& path) {
  const auto text = read_file(path, kLargestCacheBytes);
  if (!text) return text.error();
  return parse_forecast_cache(*text, path);
}

std::string to_text(const ForecastCache& cache) {
  std::string text =
      fmt::format("{}\t{}\t{}\t{}\n", kMagic, to_string(cache.mode), cache.written_unix_ns, cache.oldest_valid_s);
  for (const CacheEntry& entry : cache.entries) {
    text += fmt::format("{}\t{}\t{}", entry.program, entry.made_unix_s, join(entry.chosen, ","));
    for (const CachedForecast& forecast : entry.ranking) {
      text +=
          fmt::format("\t{}={:.4g}[{:.4g}..{:.4g}]", forecast.partition, forecast.rpv, forecast.lower, forecast.upper);
    }
    text += '\n';
  }
  return text;
}

Status update_forecast_cache(const std::string& path, int64_t now_unix_ns,
                             const std::function<Status(ForecastCache&)>& change) {
  const std::string lock_path = path + ".lock";
  const int lock = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0 || flock(lock, LOCK_EX) != 0) {
    const std::string why = std::strerror(errno);
    if (lock >= 0) close(lock);
    return Error{"file-error", "cannot lock the cache: " + why, lock_path, "a cache in a folder that you may write"};
  }
  const auto locked = [&]() -> Status {
    ForecastCache changed;
    std::error_code problem;
    if (std::filesystem::exists(path, problem) || problem) {
      auto cache = read_forecast_cache(path);
      if (!cache) return cache.error();
      changed = std::move(*cache);
    }
    if (Status status = change(changed); !status) return status;
    changed.written_unix_ns = std::max(now_unix_ns, changed.written_unix_ns + 1);
    const std::string text = to_text(changed);
    // Whatever was put together here must be readable there.
    if (const auto again = parse_forecast_cache(text, path); !again) return again.error();
    return write_file_atomically(path, text, NewFile::kPrivate);
  };
  Status status = locked();
  close(lock);
  return status;
}

}  // namespace perfcast::fleet
