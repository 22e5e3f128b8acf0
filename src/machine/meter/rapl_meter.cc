#include "machine/meter/rapl_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.h"
#include "machine/meter/sysfs.h"

namespace perfcast {
namespace {

constexpr double kJoulesPerMicrojoule = 1e-6;
constexpr double kRaplUpdate_s = 1e-3;
constexpr const char* kZonePrefix = "intel-rapl:";

class RaplMeter : public Meter {
 public:
  RaplMeter(std::string path, MeterFacts facts) : path_(std::move(path)) { facts_ = std::move(facts); }

  Result<std::optional<double>> read() override {
    const auto value = read_sysfs_number(path_);
    if (!value) return value.error();
    return std::optional(*value * kJoulesPerMicrojoule);
  }

 private:
  std::string path_;
};

struct RaplDomain {
  EnergyScope scope;
  std::string covers;
};

// By the zone's own name: "package-0", "package-0-die-1", "core", "uncore", "dram", "psys".
RaplDomain domain_of(const std::string& name, const std::string& parent) {
  const std::string where = parent.empty() ? "" : " of " + parent;
  if (name.starts_with("package")) return {EnergyScope::kPackage, "CPU " + name};
  if (name == "core") return {EnergyScope::kCores, "the cores" + where};
  if (name == "uncore") return {EnergyScope::kGraphics, "the graphics" + where};
  if (name == "dram") return {EnergyScope::kMemory, "the memory" + where};
  if (name == "psys") return {EnergyScope::kPlatform, "the platform, as its voltage regulators tell the CPU"};
  return {EnergyScope::kOther, "RAPL domain " + printable(name) + where};
}

}  // namespace

void find_rapl_meters(const std::string& powercap, MeterSet& set) {
  const auto missing = [&set](const std::string& reason, const std::string& advice) {
    set.missing.push_back({"rapl", reason, advice});
  };
  std::error_code problem;
  if (!std::filesystem::is_directory(powercap, problem)) {
    missing("there is no " + powercap +
                ": this kernel has no powercap, or the machine is a virtual one, whose host keeps the counters",
            "a kernel with CONFIG_POWERCAP on the machine itself, not in a virtual machine");
    return;
  }
  size_t zones = 0, denied = 0, broken = 0;
  std::string first_denied, first_broken;
  std::set<std::string> names;
  for (const std::string& zone : sysfs_names(powercap)) {
    if (!zone.starts_with(kZonePrefix)) continue;
    const std::string folder = fmt::format("{}/{}", powercap, zone);
    const std::string own = sysfs_text(folder + "/name");
    if (own.empty()) continue;
    ++zones;
    const size_t colon = zone.find(':', std::string(kZonePrefix).size());
    const std::string parent =
        colon == std::string::npos ? "" : sysfs_text(fmt::format("{}/{}/name", powercap, zone.substr(0, colon)));
    const std::string path = folder + "/energy_uj";
    const auto first = read_sysfs_number(path);
    if (!first) {
      const bool permission = first.error().code == "no-permission";
      (permission ? denied : broken) += 1;
      std::string& told = permission ? first_denied : first_broken;
      if (told.empty()) told = fmt::format("{}: {}", path, first.error().message);
      continue;
    }
    const RaplDomain domain = domain_of(own, parent);
    MeterFacts facts;
    facts.name = fmt::format("rapl:{}{}{}", printable(parent), parent.empty() ? "" : "/", printable(own));
    if (!names.insert(facts.name).second)
      facts.name += fmt::format("@{}", zone.substr(std::string(kZonePrefix).size()));
    facts.kind = "rapl";
    facts.scope = domain.scope;
    facts.covers = domain.covers;
    facts.unit = "uJ";
    facts.reading = MeterReading::kEnergy;
    facts.interval_s = kRaplUpdate_s;
    facts.resolution = kJoulesPerMicrojoule;
    const auto range = sysfs_number(folder + "/max_energy_range_uj");
    if (range && *range > 0) facts.range_joules = *range * kJoulesPerMicrojoule;
    facts.accuracy = "not stated by the vendors: the processor's own count, measured or modelled by design";
    set.meters.push_back(std::make_unique<RaplMeter>(path, std::move(facts)));
  }
  if (zones == 0) {
    missing("nothing in " + powercap + " is of RAPL",
            "modprobe intel_rapl_msr, for Intel's and AMD's processors; a virtual machine shows none of its host's");
  } else if (denied > 0) {
    missing(
        fmt::format("{} of {} domains may not be read: {}", denied, zones, first_denied),
        fmt::format("chmod a+r {}/intel-rapl*/energy_uj as root, or perfcast as root: since 2020 kernels keep these "
                    "counters from others, because they tell what programs do (CVE-2020-8694)",
                    powercap));
  } else if (broken > 0) {
    missing(fmt::format("{} of {} domains can't be read: {}", broken, zones, first_broken), "");
  }
}

}  // namespace perfcast
