#pragma once
// What tools of IPMI print about power: `ipmitool dcmi power reading`, `ipmitool sensor` or `sdr` (with bars, or as CSV
// with -c), FreeIPMI's `ipmi-dcmi --get-system-power-statistics`.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace perfcast {

struct IpmiPower {
  double power_w = 0;
  std::string sensor;                       // what it is of: a sensor's name, a sum of several, or "DCMI"
  std::optional<double> sampling_period_s;  // that DCMI states
};

bool looks_like_ipmi(std::string_view text);

// Of a list of sensors: `sensor` where it is named; else the one of the whole system, else the sum of the power
// supplies' inputs, else the only one in watts. Errors: "no-power" (no such line, a reading that is off),
// "ambiguous-sensor" (lists them), "bad-number" with the line.
Result<IpmiPower> parse_ipmi_power(std::string_view text, const std::string& source, const std::string& sensor = "");

}  // namespace perfcast
