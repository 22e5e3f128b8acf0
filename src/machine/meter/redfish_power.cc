#include "machine/meter/redfish_power.h"

#include <cmath>

#include "base/json.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kMostRedfish_w = 1e8, kMostRedfish_joules = 1e18;
constexpr size_t kMostMembers = 1000;

const Json* member_of(const Json& json, const char* name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

// A number, or an excerpt of a sensor: {"Reading": 214.5, ...}. Absent where it is neither, or can't be.
std::optional<double> reading_of(const Json& json, const char* name, double most) {
  const Json* member = member_of(json, name);
  if (member != nullptr && member->is_object()) member = member_of(*member, "Reading");
  if (member == nullptr || !member->is_number()) return std::nullopt;
  const double value = member->get<double>();
  return std::isfinite(value) && value >= 0 && value <= most ? std::optional(value) : std::nullopt;
}

std::string text_of(const Json& json, const char* name) {
  const Json* member = member_of(json, name);
  return member != nullptr && member->is_string() ? printable(member->get<std::string>()) : "";
}

// The sum of a number over the members of an array that have it.
std::optional<double> sum_of(const Json& json, const char* array, const char* name) {
  const Json* members = member_of(json, array);
  if (members == nullptr || !members->is_array() || members->size() > kMostMembers) return std::nullopt;
  std::optional<double> sum;
  for (const Json& member : *members) {
    if (const auto value = reading_of(member, name, kMostRedfish_w)) sum = sum.value_or(0) + *value;
  }
  return sum;
}

}  // namespace

Result<RedfishPower> parse_redfish_power(std::string_view text, const std::string& source) {
  const auto json = parse_json(text, source);
  if (!json) return json.error();
  RedfishPower power;
  const std::string name = text_of(*json, "Name"), path = text_of(*json, "@odata.id");
  power.of = name + (name.empty() || path.empty() ? "" : ", ") + path;
  if (member_of(*json, "PowerControl") != nullptr || member_of(*json, "PowerSupplies") != nullptr) {
    power.resource = "Power";
    // The first control is the whole's; others are of parts of it.
    if (const Json* controls = member_of(*json, "PowerControl"); controls != nullptr && controls->is_array()) {
      if (!controls->empty()) power.power_w = reading_of(controls->front(), "PowerConsumedWatts", kMostRedfish_w);
    }
    if (!power.power_w) power.power_w = sum_of(*json, "PowerSupplies", "PowerInputWatts");
  } else if (const std::string unit = text_of(*json, "ReadingUnits"); !unit.empty()) {
    power.resource = "Sensor";
    if (lower_case(unit) == "w" || lower_case(unit) == "watts") {
      power.power_w = reading_of(*json, "Reading", kMostRedfish_w);
    } else if (lower_case(unit) == "kw.h" || lower_case(unit) == "kwh") {
      power.energy_joules = reading_of(*json, "Reading", kMostRedfish_joules / kJoulesPerKwh);
      if (power.energy_joules) *power.energy_joules *= kJoulesPerKwh;
    } else if (lower_case(unit) == "j") {
      power.energy_joules = reading_of(*json, "Reading", kMostRedfish_joules);
    }
    // "Accuracy" is in percent of the reading, plus or minus.
    const auto accuracy = reading_of(*json, "Accuracy", 100);
    if (accuracy && *accuracy > 0) power.accuracy_ratio = *accuracy / 100;
  } else {
    power.resource = "EnvironmentMetrics";
    power.power_w = reading_of(*json, "PowerWatts", kMostRedfish_w);
    power.energy_joules = reading_of(*json, "EnergyJoules", kMostRedfish_joules);
    if (power.energy_joules) power.energy_resolution_joules = 1;
    if (!power.energy_joules) {
      // Counted in kWh with three decimals at best: too coarse beside a power, used where there is none.
      const auto kwh = reading_of(*json, "EnergykWh", kMostRedfish_joules / kJoulesPerKwh);
      if (kwh && !power.power_w) {
        power.energy_joules = *kwh * kJoulesPerKwh;
        power.energy_resolution_joules = kJoulesPerKwh * 1e-3;
      }
    }
  }
  if (power.power_w || power.energy_joules) return power;
  return Error{"no-power", "the resource tells neither power nor energy", source,
               "EnvironmentMetrics with PowerWatts or EnergyJoules, Power with PowerConsumedWatts, or a Sensor in W"};
}

}  // namespace perfcast
