#include "workload/gemm/run/noise.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"

namespace perfcast::gemm {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

CpuTicks parse_cpu_ticks(const std::string& text) {
  CpuTicks ticks;
  const std::string line = text.substr(0, text.find('\n'));
  size_t at = 0;
  for (const std::string& word : split(line, ' ')) {
    if (word.empty()) continue;
    if (at == 0 && word != "cpu") return {};
    uint64_t value = 0;
    if (at > 0) {
      const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (problem != std::errc() || end != word.data() + word.size()) return {};
    }
    // cpu user nice system idle iowait irq softirq steal guest guest_nice; guests are within user and nice
    if (at >= 1 && at <= 8) ticks.all += value;
    if (at == 8) ticks.stolen = value;
    ++at;
  }
  return ticks;
}

CpuTicks cpu_ticks() {
  const auto text = read_file("/proc/stat");
  return text ? parse_cpu_ticks(*text) : CpuTicks{};
}

double steal_share(const CpuTicks& before, const CpuTicks& after) {
  if (after.all <= before.all || after.stolen < before.stolen) return kNone;
  return static_cast<double>(after.stolen - before.stolen) / static_cast<double>(after.all - before.all);
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : kNone;
}

double available_memory() {
  const auto text = read_file("/proc/meminfo");
  if (!text) return kNone;
  for (const std::string& line : split(*text, '\n')) {
    if (!line.starts_with("MemAvailable:")) continue;
    const std::string_view rest = trim(std::string_view(line).substr(13));
    if (const auto kib = parse_number(rest.substr(0, rest.find(' ')))) return *kib * 1024;
  }
  return kNone;
}

double last_level_cache_bytes() {
#if defined(_SC_LEVEL3_CACHE_SIZE)
  for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long bytes = sysconf(level); bytes > 0) return static_cast<double>(bytes);
  }
#endif
  return kNone;
}

}  // namespace perfcast::gemm
