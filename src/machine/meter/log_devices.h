#pragma once
// Rows of several devices in one log of powers, as nvidia-smi and power strips write them: their sum at each instant.

#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "machine/meter/meter.h"

namespace perfcast {

// The column that says which device a row is of ("index", "uuid", "gpu", "device", "outlet", "host", ...), where there
// are several; of several such columns the one with most devices.
std::optional<size_t> device_column(const CsvTable& table);

struct DeviceSample {
  size_t device = 0;  // from 0
  PowerSample sample;
};
// In the order of time. A row of a device that stands in the instant already begins the next one. Instants that lack a
// device are left out and counted as blank rows. Errors: "several-devices" where more than a quarter of the instants
// lacks one, or none is whole.
Status sum_devices(std::vector<DeviceSample> samples, size_t devices, const std::string& source, PowerLog& log);

// Rows of one time and no word about devices: their mean, where few do; "several-devices" where more than a quarter of
// the rows share their time with another one, since nobody can tell whether these are devices to be added.
Status merge_equal_times(const std::string& source, PowerLog& log);

}  // namespace perfcast
