#pragma once
// What the groups of a model's samples were taken at: machine, clock, voltage, cores.

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "measure/power/model/power_design.h"
#include "measure/power/table/power_table.h"

namespace perfcast::measure {

// What a group of samples was taken at; of numbers the median, absent where the table has no such column.
struct PowerSetting {
  std::string machine;
  std::optional<double> frequency_hz, voltage_v, temperature_c, cores;
};

// Of the rows of `which`, one for each group of the design.
std::vector<PowerSetting> settings_of(const PowerTable& table, const std::vector<size_t>& which,
                                      const PowerDesign& design);

Json settings_json(const std::vector<PowerSetting>& settings);
// "bad-json-field": another number than of groups, or a number that isn't above 0.
Result<std::vector<PowerSetting>> settings_from_json(const Json& list, size_t groups, const std::string& source);

}  // namespace perfcast::measure
