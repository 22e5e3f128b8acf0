#include "profile/collect/session/profile_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "profile/whole_metrics.h"

namespace perfcast {
namespace {

constexpr size_t kClassesShown = 8;
constexpr size_t kProgramsShown = 6;

class Page {
 public:
  explicit Page(const Profile& profile) : metrics_(whole_metrics(profile)) {}

  std::optional<double> value(std::string_view name) const {
    const auto found = metrics_.find(name);
    if (found == metrics_.end()) return std::nullopt;
    return found->second;
  }

  void line(const std::string& label, const std::vector<std::string>& parts) {
    if (parts.empty()) return;
    text_ += fmt::format("  {:<14}{}\n", label, join(parts, "   "));
  }

  // One part per metric that is there; `format` has one {} for the formatted number.
  template <typename Human>
  void add(std::vector<std::string>& parts, std::string_view name, const std::string& label, Human human) const {
    if (const auto number = value(name)) parts.push_back(label.empty() ? human(*number) : label + " " + human(*number));
  }

  std::string take() { return std::move(text_); }

 private:
  const MetricValues metrics_;
  std::string text_;
};

std::string percent(double ratio) { return fmt::format("{:.3g}%", 100 * ratio); }

std::vector<std::string> top_classes(const Profile& profile) {
  if (!knows_whole_counts(profile) && profile.partly_seen->seen_ratio < kShareWithRatios) return {};
  const auto instructions = profile.metrics.find("instructions_count");
  if (instructions == profile.metrics.end() || instructions->second <= 0) return {};
  std::vector<std::pair<double, std::string>> shares;
  for (const auto& [name, count] : profile.metrics) {
    if (!name.starts_with("op_") || !name.ends_with("_count")) continue;
    shares.emplace_back(count / instructions->second, name.substr(3, name.size() - 3 - 6));
  }
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> parts;
  for (const auto& [share, name] : shares) {
    if (parts.size() == kClassesShown || share < 0.005) break;
    parts.push_back(name + " " + percent(share));
  }
  return parts;
}

// How many threads ran at a time: a row of bars over the time of the run, as high as the most that ran.
void add_course(const Profile& profile, Page& page) {
  constexpr size_t kBars = 32;
  constexpr std::array<const char*, 9> kHeights = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const Parallelism seen = parallelism_of(profile.course);
  if (seen.most_running_count < 1.2) return;
  double whole_s = 0, at_s = 0;
  for (const CourseInterval& interval : profile.course) whole_s += interval.length_s;
  std::vector<double> sums(kBars);
  for (const CourseInterval& interval : profile.course) {
    const auto bar = std::min(kBars - 1, static_cast<size_t>(kBars * (at_s + interval.length_s / 2) / whole_s));
    sums[bar] = std::max(sums[bar], interval.running_count);
    at_s += interval.length_s;
  }
  std::string bars;
  for (const double running : sums) {
    bars += kHeights.at(static_cast<size_t>(std::lround(8 * std::min(1.0, running / seen.most_running_count))));
  }
  page.line("running",
            {fmt::format("{:.1f} threads", seen.running_count), fmt::format("most {:.1f}", seen.most_running_count),
             "more than one " + percent(seen.parallel_time_ratio) + " of the time", bars});
  if (seen.ready_count > 0.05) {
    page.line("", {fmt::format("{:.1f} more were ready and waited for a CPU", seen.ready_count)});
  }
}

// Who did the work, where several programs did.
void add_processes(const Profile& profile, Page& page) {
  size_t shown = 0;
  for (const ProfilePart& part : profile.parts) {
    if (++shown > kProgramsShown) break;
    std::vector<std::string> parts = {printable(part.program), fmt::format("{:.0f} process{}", part.processes_count,
                                                                           part.processes_count == 1 ? "" : "es")};
    if (part.cpu_s) parts.push_back("CPU " + human_seconds(*part.cpu_s));
    if (part.instrumented_count < part.processes_count) {
      parts.push_back(fmt::format("{:.0f} of them instrumented", part.instrumented_count));
    }
    page.line(shown == 1 ? "processes" : "", parts);
  }
  if (profile.parts.size() > kProgramsShown) {
    page.line("", {fmt::format("and {} other programs", profile.parts.size() - kProgramsShown)});
  }
  if (profile.parts.size() > 1 && profile.accounted_cpu_ratio) {
    page.line("", {percent(*profile.accounted_cpu_ratio) + " of the CPU time accounted for"});
  }
}

// What OpenCL kernels do, where there are any.
void add_kernels(const Profile& profile, Page& page) {
  if (profile.kernels.empty()) return;
  std::vector<std::string> parts;
  page.add(parts, "opencl_launches_count", "launches", human_number);
  page.add(parts, "opencl_to_device_bytes", "to the device", human_bytes);
  page.add(parts, "opencl_from_device_bytes", "from it", human_bytes);
  page.add(parts, "opencl_host_cpu_s", "CPU of the host part", human_seconds);
  page.line("OpenCL", parts);
  size_t shown = 0;
  for (const ProfileKernel& kernel : profile.kernels) {
    if (++shown > kProgramsShown) break;
    parts = {printable(kernel.name), fmt::format("launches {:.0f}", kernel.launches_count)};
    const auto add = [&](const char* name, const char* label) {
      const auto found = kernel.metrics.find(name);
      if (found != kernel.metrics.end()) parts.push_back(fmt::format("{} {}", label, human_number(found->second)));
    };
    add("kernel_work_items_count", "work items");
    add("kernel_instructions_count", "instructions");
    add("kernel_transactions_per_access_ratio", "sectors per access of 32 items");
    page.line(shown == 1 ? "kernels" : "", parts);
  }
  if (profile.kernels.size() > kProgramsShown) {
    page.line("", {fmt::format("and {} other kernels", profile.kernels.size() - kProgramsShown)});
  }
}

}  // namespace

std::string profile_summary(const Profile& profile) {
  Page page(profile);
  std::vector<std::string> parts = {printable(profile.program), profile.instruction_set};
  if (!profile.host.name.empty()) parts.push_back("on " + printable(profile.host.name));
  page.line("program", parts);

  parts.clear();
  page.add(parts, "wall_s", "", human_seconds);
  page.add(parts, "native_runs_count", "runs", human_number);
  page.add(parts, "wall_spread_ratio", "spread", percent);
  page.line("wall", parts);
  parts.clear();
  page.add(parts, "cpu_s", "", human_seconds);
  page.add(parts, "user_s", "user", human_seconds);
  page.add(parts, "system_s", "kernel", human_seconds);
  page.line("CPU", parts);
  parts.clear();
  page.add(parts, "max_rss_bytes", "resident", human_bytes);
  page.add(parts, "page_faults_count", "page faults", human_number);
  page.add(parts, "context_switches_count", "context switches", human_number);
  page.add(parts, "threads_peak_count", "threads", human_number);
  page.line("memory, tasks", parts);
  parts.clear();
  page.add(parts, "io_read_bytes", "read", human_bytes);
  page.add(parts, "io_written_bytes", "written", human_bytes);
  page.add(parts, "syscalls_count", "system calls", human_number);
  page.line("input, output", parts);

  parts.clear();
  page.add(parts, "program_instructions_count", "", human_number);
  page.add(parts, "instructions_per_s", "per CPU second", human_number);
  page.add(parts, "hw_instructions_per_cycle_ratio", "per cycle", human_number);
  page.line("instructions", parts);
  page.line("mix", top_classes(profile));
  parts.clear();
  page.add(parts, "loads_count", "loads", human_number);
  page.add(parts, "stores_count", "stores", human_number);
  page.add(parts, "footprint_bytes", "touched", human_bytes);
  page.line("accesses", parts);
  parts.clear();
  constexpr std::array<std::pair<const char*, const char*>, 4> kCaches = {{{"miss_32k_per_access_ratio", "32 KiB"},
                                                                           {"miss_512k_per_access_ratio", "512 KiB"},
                                                                           {"miss_4m_per_access_ratio", "4 MiB"},
                                                                           {"miss_32m_per_access_ratio", "32 MiB"}}};
  for (const auto& [name, label] : kCaches) page.add(parts, name, label, percent);
  if (parts.empty()) {
    page.add(parts, "l1d_miss_per_access_ratio", "48 KiB", percent);
    page.add(parts, "llc_miss_per_access_ratio", "32 MiB", percent);
  }
  page.line("cache misses", parts);
  parts.clear();
  page.add(parts, "branches_per_instruction_ratio", "of instructions", percent);
  page.add(parts, "branch_misses_per_branch_ratio", "mispredicted", percent);
  page.line("branches", parts);

  add_course(profile, page);
  add_processes(profile, page);
  add_kernels(profile, page);
  std::string text = page.take();
  for (const ProfileWarning& warning : profile.warnings) {
    text += "\n  " + std::string(is_serious(warning) ? "warning: " : "note: ") + printable(warning.message) + "\n";
    if (!warning.advice.empty()) text += "    advice: " + printable(warning.advice) + "\n";
  }
  return text;
}

}  // namespace perfcast
