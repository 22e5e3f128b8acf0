#pragma once
// Power and time over frequency, at a frequency that nothing was measured at; and the best frequency by it.

#include <string>
#include <vector>

#include "measure/power/table/power_table.h"

namespace perfcast::measure::power_study {

struct DvfsScore {
  std::string method;
  std::string left_out;                                      // "1400 MHz 1 cores"
  double power_error = 0, time_error = 0, energy_error = 0;  // mean of |forecast / measured - 1| over workloads
  // Of choosing among all frequencies, this one by its forecast, the others by what was measured there.
  double energy_right = 0, energy_regret = 0;  // share of workloads; mean of chosen / best - 1
  double delay_right = 0, delay_regret = 0;    // of energy x time
  size_t workloads = 0;
};

// Every frequency of every number of cores in turn. Methods: "cubic": power as V^2 f, time as 1 / f, from the nearest
// measured frequency; "model": a non-negative line for power over V^2 f with a part for leakage (1 / (V f)), fitted on
// all workloads at the other frequencies, times what the workload's own runs there are off; time as a / f + b through
// the two nearest. Voltage at the frequency left out is that of the processor's table.
std::vector<DvfsScore> dvfs_forecasts(const PowerTable& table);

}  // namespace perfcast::measure::power_study
