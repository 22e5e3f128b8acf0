#pragma once
// Sensors of power and energy that drivers show under /sys/class/hwmon (Documentation/hwmon/sysfs-interface.rst):
// energyN_input in microjoules, powerN_average and powerN_input in microwatts, with powerN_average_interval in
// milliseconds and, of ACPI's power meters, powerN_accuracy in percent.

#include <string>

#include "machine/meter/meter.h"

namespace perfcast {

// Adds a meter for each sensor: its energy where the chip counts it, else its average power, else its power now.
void find_hwmon_meters(const std::string& hwmon, MeterSet& set);

}  // namespace perfcast
