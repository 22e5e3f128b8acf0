#include "machine/ceiling/free_memory.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/csv.h"
#include "base/file.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr double kUsualFreeBytes = 512.0 * (1 << 20);

std::optional<double> number_in(const std::string& path) {
  const auto text = read_file(path, 64);
  return text ? parse_number(trim(*text)) : std::nullopt;
}

// What the control group that this process is in, and those above it, still allow; absent: there is no limit.
std::optional<double> control_group_free_bytes() {
  const auto groups = read_file("/proc/self/cgroup", 1 << 16);
  if (!groups) return std::nullopt;
  std::optional<double> least;
  for (const std::string& line : split(*groups, '\n')) {
    if (!line.starts_with("0::")) continue;
    // In a container the path may be that of the host: what is mounted is the group itself then.
    for (std::string group = line.substr(3);; group = group.substr(0, group.rfind('/'))) {
      const std::string folder = "/sys/fs/cgroup" + (group == "/" ? "" : group);
      const auto most = number_in(folder + "/memory.max"), used = number_in(folder + "/memory.current");
      if (most && used) least = std::min(least.value_or(*most - *used), *most - *used);
      if (group.empty() || group == "/") break;
    }
  }
  return least;
}

// What the kernel could give without swapping, its caches of files included.
std::optional<double> available_bytes() {
  const auto text = read_file("/proc/meminfo", 1 << 16);
  if (!text) return std::nullopt;
  constexpr std::string_view kName = "MemAvailable:";
  for (const std::string& line : split(*text, '\n')) {
    if (!line.starts_with(kName) || !line.ends_with("kB")) continue;
    const auto kib = parse_number(trim(line.substr(kName.size(), line.size() - kName.size() - 2)));
    if (kib) return *kib * 1024;
  }
  return std::nullopt;
}

}  // namespace

double free_memory_bytes() {
  if (const auto available = available_bytes()) {
    return std::max(0.0, std::min(*available, control_group_free_bytes().value_or(*available)));
  }
  double bytes = kUsualFreeBytes;
#if defined(_SC_AVPHYS_PAGES)
  const long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) bytes = static_cast<double>(pages) * static_cast<double>(page);
#endif
  return std::max(0.0, std::min(bytes, control_group_free_bytes().value_or(bytes)));
}

}  // namespace perfcast
