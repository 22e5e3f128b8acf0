#include "ai/gemm/run/noise.h"

#include <charconv>
#include <cstdlib>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"
#include "base/unknown.h"
#include "machine/facts/caches.h"

namespace perfcast::ai::gemm {

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
  if (after.all <= before.all || after.stolen < before.stolen) return kUnknown;
  return static_cast<double>(after.stolen - before.stolen) / static_cast<double>(after.all - before.all);
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : kUnknown;
}

double available_memory() {
  const auto text = read_file("/proc/meminfo");
  if (!text) return kUnknown;
  for (const std::string& line : split(*text, '\n')) {
    if (!line.starts_with("MemAvailable:")) continue;
    const std::string_view rest = trim(std::string_view(line).substr(13));
    if (const auto kib = parse_number(rest.substr(0, rest.find(' ')))) return *kib * 1024;
  }
  return kUnknown;
}

double last_level_cache_bytes() {
  const CacheSizes sizes = caches_of_this_processor();
  return sizes.l3_bytes.value_or(sizes.l2_bytes.value_or(kUnknown));
}

}  // namespace perfcast::ai::gemm
