#pragma once
// Redfish resources about power, as a service's JSON has them (DMTF DSP0268): EnvironmentMetrics (PowerWatts,
// EnergyJoules, EnergykWh), Power (PowerControl[].PowerConsumedWatts, else PowerSupplies[].PowerInputWatts), Sensor
// (Reading in W).

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perfcast {

struct RedfishPower {
  std::optional<double> power_w;
  std::optional<double> energy_joules;  // since the service began to count, where it has such a counter
  std::optional<double> energy_resolution_joules;
  std::string resource;                  // "EnvironmentMetrics", "Power", "Sensor"
  std::string of;                        // what it says to be of: its name and path; empty: it does not
  std::optional<double> accuracy_ratio;  // of a Sensor that states it
};

// Errors: "bad-json", "bad-json-field", "no-power".
Result<RedfishPower> parse_redfish_power(std::string_view text, const std::string& source);

}  // namespace perfcast
