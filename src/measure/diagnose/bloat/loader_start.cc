#include "measure/diagnose/bloat/loader_start.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <optional>

#include "base/file.h"

namespace perfcast::measure {
namespace {

constexpr size_t kMostReportBytes = size_t{16} << 20, kMostReports = 100'000;
// More were no time of a start: an hour of cycles.
constexpr uint64_t kMostCycles = uint64_t{1} << 44U;

// The number behind a line's phrase.
std::optional<double> number_behind(std::string_view line, std::string_view phrase) {
  const size_t at = line.find(phrase);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + phrase.size());
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  uint64_t number = 0;
  const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (problem != std::errc() || number > kMostCycles) return std::nullopt;
  return static_cast<double>(number);
}

}  // namespace

void LoaderStart::add(const LoaderStart& other) {
  starts_count += other.starts_count;
  start_s += other.start_s;
  relocation_s += other.relocation_s;
  load_s += other.load_s;
  by_name_count += other.by_name_count;
  relative_count += other.relative_count;
  at_end_count += other.at_end_count;
}

LoaderStart parse_loader_report(std::string_view text, double cycles_per_s) {
  LoaderStart sum;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const auto cycles = number_behind(line, "total startup time in dynamic loader:")) {
      sum.starts_count += 1;
      sum.start_s += *cycles / cycles_per_s;
    } else if (const auto relocating = number_behind(line, "time needed for relocation:")) {
      sum.relocation_s += *relocating / cycles_per_s;
    } else if (const auto loading = number_behind(line, "time needed to load objects:")) {
      sum.load_s += *loading / cycles_per_s;
    } else if (const auto at_end = number_behind(line, "final number of relocations:")) {
      sum.at_end_count += *at_end;
    } else if (const auto by_name = number_behind(line, " number of relocations:")) {
      sum.by_name_count += *by_name;
    } else if (const auto relative = number_behind(line, "number of relative relocations:")) {
      sum.relative_count += *relative;
    }
  }
  return sum;
}

double loader_cycles_per_s() {
#if defined(__x86_64__)
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  const uint64_t first = __rdtsc();
  while (Clock::now() - began < std::chrono::milliseconds(20)) continue;
  const uint64_t last = __rdtsc();
  return static_cast<double>(last - first) / std::chrono::duration<double>(Clock::now() - began).count();
#else
  return 1e9;  // elsewhere it reads a clock, in ns
#endif
}

LoaderStart read_loader_reports(const std::string& folder, const std::string& prefix) {
  LoaderStart sum;
  const double cycles_per_s = loader_cycles_per_s();
  std::error_code problem;
  size_t reports = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    if (reports++ == kMostReports) break;
    if (const auto text = read_bytes(entry.path().string(), kMostReportBytes))
      sum.add(parse_loader_report(*text, cycles_per_s));
  }
  return sum;
}

}  // namespace perfcast::measure
