#include "machine/meter/hwmon_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/csv.h"
#include "base/text.h"
#include "machine/meter/sysfs.h"

namespace perfcast {
namespace {

constexpr double kMicro = 1e-6;
constexpr double kSensor_s = 1;          // where nothing states how often it changes
constexpr double kEnergySensor_s = 0.1;  // likewise, of counters
constexpr double kLongestInterval_s = 3600;
constexpr size_t kMostSensors = 512;

class HwmonMeter : public Meter {
 public:
  HwmonMeter(std::string path, MeterFacts facts) : path_(std::move(path)) { facts_ = std::move(facts); }

  Result<std::optional<double>> read() override {
    const auto value = read_sysfs_number(path_);
    if (!value) return value.error();
    return std::optional(*value * kMicro);
  }

 private:
  std::string path_;
};

struct Sensor {
  EnergyScope scope = EnergyScope::kOther;
  std::string covers;
};

// By what drivers call their chips.
Sensor sensor_of(const std::string& chip, const std::string& label) {
  const std::string labelled = label.empty() ? "" : " (" + printable(label) + ")";
  if (chip == "power_meter" || chip == "acpi_power_meter")
    return {EnergyScope::kServer, "the server, by ACPI's power meter"};
  if (chip.starts_with("ibmaem") || chip.starts_with("aem")) return {EnergyScope::kServer, "the server, by IBM's AEM"};
  if (chip == "amdgpu" || chip == "i915" || chip == "xe" || chip == "nouveau" || chip == "radeon") {
    return {EnergyScope::kGpu, "GPU of the driver " + chip + labelled};
  }
  if (chip == "amd_energy") {
    return label.starts_with("Ecore") ? Sensor{EnergyScope::kCores, "CPU core" + labelled}
                                      : Sensor{EnergyScope::kPackage, "CPU package" + labelled};
  }
  if (chip == "fam15h_power") return {EnergyScope::kPackage, "CPU package"};
  return {EnergyScope::kOther, "sensor of " + printable(chip.empty() ? "an unnamed chip" : chip) + labelled};
}

// "energy12_input" -> "12"; empty where the name is of another kind.
std::string index_in(const std::string& name, const std::string& before, const std::string& behind) {
  if (!name.starts_with(before) || !name.ends_with(behind) || name.size() <= before.size() + behind.size()) return "";
  const std::string index = name.substr(before.size(), name.size() - before.size() - behind.size());
  return index.find_first_not_of("0123456789") == std::string::npos ? index : "";
}

// "95.0%": of a reading, 100% being exact.
std::optional<double> accuracy_of(const std::string& path) {
  std::string text = sysfs_text(path);
  if (text.ends_with('%')) text.pop_back();
  const auto percent = parse_number(text);
  if (!percent || *percent <= 0 || *percent > 100) return std::nullopt;
  return 1 - *percent / 100;
}

struct HwmonCount {
  size_t sensors = 0, denied = 0, broken = 0;
  std::string first_problem;
};

void add_sensor(const std::string& folder, const std::string& chip, const std::string& index, const std::string& what,
                HwmonCount& count, MeterSet& set) {
  const std::string path = folder + "/" + what;
  ++count.sensors;
  const auto first = read_sysfs_number(path);
  if (!first) {
    (first.error().code == "no-permission" ? count.denied : count.broken) += 1;
    if (count.first_problem.empty()) count.first_problem = path + ": " + first.error().message;
    return;
  }
  const bool is_energy = what.starts_with("energy");
  const std::string stem = (is_energy ? "energy" : "power") + index;
  const Sensor sensor = sensor_of(chip, sysfs_text(folder + "/" + stem + "_label"));
  MeterFacts facts;
  facts.kind = "hwmon";
  facts.name = "hwmon:" + printable(chip.empty() ? "unnamed" : chip) + "/" + stem;
  const auto taken = [&](const auto& meter) { return meter->facts().name == facts.name; };
  // Two cards of one driver: told apart by the folder.
  if (std::any_of(set.meters.begin(), set.meters.end(), taken)) {
    facts.name += "@" + std::filesystem::path(folder).filename().string();
  }
  facts.scope = sensor.scope;
  facts.covers = sensor.covers;
  facts.unit = is_energy ? "uJ" : "uW";
  facts.reading = is_energy ? MeterReading::kEnergy : MeterReading::kPower;
  facts.resolution = kMicro;
  facts.interval_s = is_energy ? kEnergySensor_s : kSensor_s;
  if (what.ends_with("_average")) {
    const auto interval_ms = sysfs_number(folder + "/" + stem + "_average_interval");
    if (interval_ms && *interval_ms > 0) facts.interval_s = std::min(*interval_ms * 1e-3, kLongestInterval_s);
  }
  facts.accuracy_ratio = accuracy_of(folder + "/" + stem + "_accuracy");
  facts.accuracy = facts.accuracy_ratio ? "as the sensor itself states it" : "not stated by the driver";
  set.meters.push_back(std::make_unique<HwmonMeter>(path, std::move(facts)));
}

}  // namespace

void find_hwmon_meters(const std::string& hwmon, MeterSet& set) {
  std::error_code problem;
  if (!std::filesystem::is_directory(hwmon, problem)) {
    set.missing.push_back(
        {"hwmon", "there is no " + hwmon + ": no driver of a sensor is loaded, or the machine is a virtual one",
         "the machine itself; modprobe acpi_power_meter for a server's own meter"});
    return;
  }
  HwmonCount count;
  size_t chips = 0;
  for (const std::string& entry : sysfs_names(hwmon)) {
    const std::string folder = fmt::format("{}/{}", hwmon, entry);
    const std::vector<std::string> names = sysfs_names(folder);
    const std::string chip = sysfs_text(folder + "/name");
    ++chips;
    const auto has_label = [&](const std::string& name, const std::string& begin) {
      return name.ends_with("_label") && sysfs_text(fmt::format("{}/{}", folder, name)).starts_with(begin);
    };
    const bool has_sockets =
        std::any_of(names.begin(), names.end(), [&](const std::string& name) { return has_label(name, "Esocket"); });
    std::set<std::string> energies, averages;
    for (const std::string& name : names) {
      if (count.sensors >= kMostSensors) break;
      const std::string index = index_in(name, "energy", "_input");
      if (index.empty()) continue;
      energies.insert(index);
      // A socket's counter holds those of its cores.
      if (has_sockets && has_label(fmt::format("energy{}_label", index), "Ecore")) continue;
      add_sensor(folder, chip, index, name, count, set);
    }
    for (const char* behind : {"_average", "_input"}) {
      for (const std::string& name : names) {
        if (count.sensors >= kMostSensors) break;
        const std::string index = index_in(name, "power", behind);
        if (index.empty() || energies.contains(index) || !averages.insert(index).second) continue;
        add_sensor(folder, chip, index, name, count, set);
      }
    }
  }
  if (count.sensors == 0) {
    set.missing.push_back({"hwmon",
                           "none of the " + std::to_string(chips) + " chips in " + hwmon + " measures power or energy",
                           "modprobe acpi_power_meter for a server's own meter, where its firmware has one"});
  } else if (count.denied + count.broken > 0) {
    set.missing.push_back({"hwmon",
                           std::to_string(count.denied + count.broken) + " of " + std::to_string(count.sensors) +
                               " sensors can't be read: " + count.first_problem,
                           count.denied > 0 ? "chmod a+r on them as root, or perfcast as root" : ""});
  }
}

}  // namespace perfcast
