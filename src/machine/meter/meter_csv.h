#pragma once
// The log of an external meter: CSV with a column of times and one of powers.

#include <string>
#include <string_view>

#include "base/result.h"
#include "machine/meter/meter.h"

namespace perfcast {

// The time: a column "timestamp", "time", "date", "datetime" or one whose name begins so; Unix seconds, milliseconds,
// microseconds or nanoseconds (told apart by their size), or ISO 8601 such as 2026-11-25T20:11:35.5Z, with Z or +hh:mm.
// The power: the one column whose name holds "watt" or "power" or ends in a unit of power; in the unit that the name
// says behind "_", a blank or in brackets (W, mW, uW, kW, "milliwatts", "kilowatts" ...), in watts where it says
// none. Energy (kWh, J), apparent power (VA), a power factor and what stands in brackets and isn't known are no powers.
// A time as nvidia-smi writes it (2026/11/25 20:11:35.123) is of this machine's zone, and a power may have its unit
// behind it ("62.35 W"). Rows of several devices are added (log_devices.h).
// A blank power or "N/A" leaves the row out. Rows whose time is none or whose power is no number, below 0 or above
// 1e8 W, are left out and counted: meters stumble. All samples, in the order of their times. Errors with file and line:
// "missing-column", "bad-unit" where no other column is a power, "ambiguous-column", "several-devices", "bad-time",
// "bad-number" where more than a quarter of the rows is such, and those of CsvTable.
Result<PowerLog> parse_power_csv(std::string_view text, const std::string& source);

}  // namespace perfcast
