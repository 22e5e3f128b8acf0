#include "machine/meter/throttle.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/statistics.h"
#include "machine/meter/sysfs.h"

namespace perfcast {
namespace {

constexpr double kHzPerKilohertz = 1e3;
// Fewer looks than this say nothing of a course.
constexpr size_t kLeastLooks = 8;
// Lower clocks at the end than at the beginning, by more than governors play.
constexpr double kClockDrop = 0.9;
constexpr double kCapped = 0.99;
constexpr double kLooksApart_s = 0.5, kCpusAtOnce = 16;

bool is_cpu(const std::string& name) {
  return name.starts_with("cpu") && name.size() > 3 && name.find_first_not_of("0123456789", 3) == std::string::npos;
}

}  // namespace

ThrottleWatch::ThrottleWatch(std::string cpu_root) : root_(std::move(cpu_root)) {
  for (const std::string& name : sysfs_names(root_)) {
    if (is_cpu(name)) cpus_.push_back(fmt::format("{}/{}", root_, name));
  }
}

std::optional<double> ThrottleWatch::throttle_count() const {
  std::optional<double> sum;
  for (const std::string& cpu : cpus_) {
    // Each CPU of a package shows the package's count: the cores' are summed, the package's taken once, as the largest.
    if (const auto count = sysfs_number(cpu + "/thermal_throttle/core_throttle_count")) sum = sum.value_or(0) + *count;
  }
  std::optional<double> package;
  for (const std::string& cpu : cpus_) {
    if (const auto count = sysfs_number(cpu + "/thermal_throttle/package_throttle_count"))
      package = std::max(package.value_or(0), *count);
  }
  if (package) sum = sum.value_or(0) + *package;
  return sum;
}

std::optional<double> ThrottleWatch::fastest_hz() const {
  std::optional<double> fastest;
  for (const std::string& cpu : cpus_) {
    if (const auto khz = sysfs_number(cpu + "/cpufreq/scaling_cur_freq"))
      fastest = std::max(fastest.value_or(0), *khz * kHzPerKilohertz);
  }
  return fastest;
}

double ThrottleWatch::apart_s() const {
  return kLooksApart_s * std::max(1.0, static_cast<double>(cpus_.size()) / kCpusAtOnce);
}

void ThrottleWatch::begin() {
  began_count_ = throttle_count();
  fastest_hz_.clear();
  look();
}

void ThrottleWatch::look() {
  if (const auto hz = fastest_hz()) fastest_hz_.push_back(*hz);
}

std::vector<EnergyWarning> ThrottleWatch::end() {
  std::vector<EnergyWarning> warnings;
  look();
  const auto count = throttle_count();
  if (count && began_count_ && *count > *began_count_) {
    warnings.push_back({"thermal-throttle", fmt::format("the CPUs throttled for heat {:.0f} times meanwhile: times and "
                                                        "joules are those of a hot machine",
                                                        *count - *began_count_)});
  }
  if (fastest_hz_.size() >= kLeastLooks) {
    const auto quarter = static_cast<std::ptrdiff_t>(fastest_hz_.size() / 4);
    // The first look may catch clocks before the load.
    const double early_hz = median({fastest_hz_.begin() + 1, fastest_hz_.begin() + 1 + quarter});
    const double late_hz = median({fastest_hz_.end() - 1 - quarter, fastest_hz_.end() - 1});
    if (late_hz < kClockDrop * early_hz) {
      warnings.push_back({"clock-drop", fmt::format("the fastest CPU's clock sank from {:.2f} to {:.2f} GHz meanwhile",
                                                    early_hz / 1e9, late_hz / 1e9)});
    }
  }
  for (const std::string& cpu : cpus_) {
    const auto allowed = sysfs_number(cpu + "/cpufreq/scaling_max_freq");
    const auto possible = sysfs_number(cpu + "/cpufreq/cpuinfo_max_freq");
    if (!allowed || !possible || *allowed >= kCapped * *possible) continue;
    warnings.push_back(
        {"clocks-capped", fmt::format("clocks are held to {:.2f} of {:.2f} GHz by a setting of this machine",
                                      *allowed / 1e6, *possible / 1e6)});
    break;
  }
  return warnings;
}

std::string ThrottleWatch::blind() const {
  if (throttle_count() || fastest_hz()) return "";
  return "neither clocks nor throttling can be read in " + root_ + ": a virtual machine has none";
}

}  // namespace perfcast
