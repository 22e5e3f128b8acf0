#include "machine/meter/ipmi_text.h"

#include <algorithm>
#include <vector>

#include "base/csv.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr double kMostIpmi_w = 1e8;
constexpr size_t kMostIpmiLines = 20000;

struct IpmiSensor {
  std::string name;
  double power_w = 0;
};

// The number that a text begins with: "214 Watts", "00000001 Seconds.".
std::optional<double> leading_number(std::string_view text) {
  text = trim(text);
  const size_t end = std::min(text.find_first_not_of("0123456789.+-"), text.size());
  return parse_number(text.substr(0, end));
}

std::string_view after_colon(std::string_view line) {
  const size_t colon = line.find(':');
  return colon == std::string_view::npos ? std::string_view() : trim(line.substr(colon + 1));
}

bool is_power_unit(std::string_view text) {
  const std::string key = lower_case(trim(text));
  return key == "watts" || key == "watt" || key == "w";
}

// One line of `sensor` or `sdr`, in cells: NAME | VALUE | Watts | ..., NAME | VALUE Watts | ok, or
// NAME | 31h | ok | 7.1 | VALUE Watts.
std::optional<IpmiSensor> sensor_in(const std::vector<std::string>& cells) {
  if (cells.size() < 2) return std::nullopt;
  for (size_t i = 1; i < cells.size(); ++i) {
    const std::string_view cell = trim(cells[i]);
    std::optional<double> value;
    if (i + 1 < cells.size() && is_power_unit(cells[i + 1])) {
      value = parse_number(cell);
    } else if (const size_t space = cell.rfind(' ');
               space != std::string_view::npos && is_power_unit(cell.substr(space + 1))) {
      value = parse_number(trim(cell.substr(0, space)));
    }
    if (value) return IpmiSensor{std::string(trim(cells[0])), *value};
  }
  return std::nullopt;
}

bool is_of_the_system(const std::string& name) {
  const std::string key = lower_case(name);
  const auto holds = [&](const char* text) { return key.find(text) != std::string::npos; };
  return holds("total") || holds("pwr consumption") || holds("power meter") || holds("system") || holds("sys_p") ||
         holds("sys p") || holds("node power") || holds("chassis p");
}

bool is_supply_input(const std::string& name) {
  const std::string key = lower_case(name);
  return key.find("ps") != std::string::npos && key.find("in") != std::string::npos &&
         key.find("out") == std::string::npos;
}

Error no_power(const std::string& message, const std::string& source) {
  return {"no-power", message, source,
          "the output of `ipmitool dcmi power reading`, or of `ipmitool sensor` where a sensor is in watts"};
}

Result<IpmiPower> checked_power(IpmiPower power, const std::string& source) {
  if (power.power_w >= 0 && power.power_w <= kMostIpmi_w) return power;
  return Error{"bad-number", "a power of " + csv_number(power.power_w) + " W can't be", source, "watts from 0 to 1e8"};
}

Result<IpmiPower> parse_dcmi(const std::vector<std::string>& lines, const std::string& source) {
  IpmiPower power;
  power.sensor = "DCMI";
  bool found = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string key = lower_case(trim(lines[i]));
    const std::string_view value = after_colon(lines[i]);
    if (key.starts_with("power reading state") || key.starts_with("power measurement")) {
      const std::string state = lower_case(value);
      if (state == "deactivated" || state == "not active" || state == "not available")
        return no_power("the machine's power reading is " + state, source);
    } else if (key.starts_with("sampling period") || key.starts_with("statistics reporting time period")) {
      power.sampling_period_s = leading_number(value);
      if (power.sampling_period_s && key.find("milli") != std::string::npos) *power.sampling_period_s *= 1e-3;
      if (power.sampling_period_s && !(*power.sampling_period_s > 0 && *power.sampling_period_s < 1e6))
        power.sampling_period_s.reset();
    } else if (key.starts_with("instantaneous power reading") || key.starts_with("current power")) {
      const auto watts = leading_number(value);
      if (!watts) {
        return Error{"bad-number", "'" + printable(value.substr(0, 60)) + "' is no power",
                     source + ":" + std::to_string(i + 1), "such as 214 Watts"};
      }
      power.power_w = *watts;
      found = true;
    }
  }
  if (!found) return no_power("there is no instantaneous reading in what the tool printed", source);
  return checked_power(std::move(power), source);
}

bool is_dcmi(std::string_view text) {
  const std::string key = lower_case(text.substr(0, 4096));
  return key.find("instantaneous power reading") != std::string::npos ||
         key.find("current power") != std::string::npos || key.find("power reading state") != std::string::npos;
}

std::vector<std::string> cells_of(const std::string& line) {
  return split(line, line.find('|') != std::string::npos ? '|' : ',');
}

}  // namespace

bool looks_like_ipmi(std::string_view text) {
  if (is_dcmi(text)) return true;
  for (const std::string& line : split(text.substr(0, 65536), '\n')) {
    if (sensor_in(cells_of(line))) return true;
  }
  return false;
}

Result<IpmiPower> parse_ipmi_power(std::string_view text, const std::string& source, const std::string& sensor) {
  std::vector<std::string> lines = split(text, '\n');
  if (lines.size() > kMostIpmiLines) lines.resize(kMostIpmiLines);
  if (sensor.empty() && is_dcmi(text)) return parse_dcmi(lines, source);
  std::vector<IpmiSensor> sensors;
  for (const std::string& line : lines) {
    if (auto found = sensor_in(cells_of(line))) sensors.push_back(std::move(*found));
  }
  std::vector<std::string> names;
  names.reserve(sensors.size());
  for (const IpmiSensor& each : sensors) names.push_back(printable(each.name));
  if (sensors.empty()) return no_power("no sensor is in watts", source);
  const auto taken = [&](auto fits) {
    std::vector<const IpmiSensor*> found;
    for (const IpmiSensor& each : sensors) {
      if (fits(each.name)) found.push_back(&each);
    }
    return found;
  };
  if (!sensor.empty()) {
    const auto named = taken([&](const std::string& name) { return lower_case(name) == lower_case(sensor); });
    if (named.empty()) {
      return Error{"no-power", "no sensor in watts is called '" + printable(sensor) + "'", source,
                   "one of " + join(names, ", ")};
    }
    return checked_power({named.front()->power_w, named.front()->name, std::nullopt}, source);
  }
  if (const auto system = taken(is_of_the_system); system.size() == 1) {
    return checked_power({system.front()->power_w, system.front()->name, std::nullopt}, source);
  }
  if (const auto supplies = taken(is_supply_input); !supplies.empty()) {
    IpmiPower sum;
    std::vector<std::string> summed;
    for (const IpmiSensor* each : supplies) {
      sum.power_w += each->power_w;
      summed.push_back(each->name);
    }
    sum.sensor = join(summed, " + ");
    return checked_power(std::move(sum), source);
  }
  if (sensors.size() == 1) return checked_power({sensors.front().power_w, sensors.front().name, std::nullopt}, source);
  return Error{"ambiguous-sensor", "several sensors are in watts: " + join(names, ", "), source,
               "the one to take behind the file's name: FILE#" + names.front()};
}

}  // namespace perfcast
