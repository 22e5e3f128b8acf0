#include "machine/meter/meter.h"

#include <algorithm>

#include "base/text.h"
#include "machine/meter/hwmon_meter.h"
#include "machine/meter/meter_file.h"
#include "machine/meter/nvml_meter.h"
#include "machine/meter/rapl_meter.h"

namespace perfcast {

std::string to_string(EnergyScope scope) {
  switch (scope) {
    case EnergyScope::kPackage:
      return "package";
    case EnergyScope::kCores:
      return "cores";
    case EnergyScope::kGraphics:
      return "graphics";
    case EnergyScope::kMemory:
      return "memory";
    case EnergyScope::kPlatform:
      return "platform";
    case EnergyScope::kGpu:
      return "gpu";
    case EnergyScope::kServer:
      return "server";
    case EnergyScope::kOther:
      break;
  }
  return "other";
}

std::string to_string(MeterReading reading) {
  switch (reading) {
    case MeterReading::kEnergy:
      return "energy";
    case MeterReading::kPower:
      return "power";
    case MeterReading::kLog:
      break;
  }
  return "log";
}

Result<PowerLog> Meter::logged(double /*from_unix_s*/, double /*to_unix_s*/) { return PowerLog{}; }

std::vector<Meter*> MeterSet::all() const {
  std::vector<Meter*> pointers;
  pointers.reserve(meters.size());
  for (const auto& meter : meters) pointers.push_back(meter.get());
  return pointers;
}

MeterSet find_meters(const MeterRoots& roots) {
  MeterSet set;
  find_rapl_meters(roots.powercap, set);
  find_nvml_meters(roots.nvml, set);
  find_hwmon_meters(roots.hwmon, set);
  return set;
}

namespace {

Error no_such_meter(const MeterSet& found, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& meter : found.meters) names.push_back(meter->facts().name);
  for (const MissingMeter& missing : found.missing) {
    if (missing.kind != name && !name.starts_with(missing.kind + ":")) continue;
    return usage_error(
        "no-such-meter", "no meter '" + printable(name) + "' here: " + missing.reason, "meter",
        missing.advice.empty() ? "another meter, or a file that a meter's reader writes" : missing.advice);
  }
  return usage_error("no-such-meter",
                     "'" + printable(name) + "' is no meter, no kind of meter and no file that is there", "meter",
                     (names.empty() ? std::string("this machine has no meter of its own: ")
                                    : "one of " + join(names, ", ") + "; a kind (rapl, nvml, hwmon); or ") +
                         "the path of a file that a meter's reader writes (docs/energy.md)");
}

}  // namespace

Result<MeterSet> choose_meters(MeterSet found, const std::vector<std::string>& names, const MeterFileOptions& options) {
  if (names.empty()) return found;
  MeterSet chosen;
  for (const std::string& name : names) {
    const size_t before = chosen.meters.size();
    for (auto& meter : found.meters) {
      if (!meter || (meter->facts().name != name && meter->facts().kind != name)) continue;
      chosen.meters.push_back(std::move(meter));
    }
    if (chosen.meters.size() > before) continue;
    const auto twice = std::find_if(chosen.meters.begin(), chosen.meters.end(), [&](const auto& meter) {
      return meter->facts().name == name || meter->facts().kind == name;
    });
    if (twice != chosen.meters.end())
      return usage_error("bad-usage", "meter '" + printable(name) + "' is named twice", "meter", "each once");
    if (!names_a_file(name)) {
      std::erase(found.meters, nullptr);
      return no_such_meter(found, name);
    }
    MeterFileOptions own = options;
    auto file = open_meter_file(path_in_meter_name(name, own), own);
    if (!file) return file.error();
    chosen.meters.push_back(std::move(*file));
  }
  return chosen;
}

}  // namespace perfcast
