#pragma once
// Power of a machine that copies of one program keep busy, by a model of power.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/power/model/power_model.h"

namespace perfcast::measure {

struct BusyMachine {
  PowerSetting setting;     // one of the model's
  double cpus = 1;          // all of them busy
  double system_ratio = 0;  // of that time in the kernel
  // By the names of the model's counters: events of one copy in each second that it keeps a CPU busy.
  std::map<std::string, double> events_per_cpu_s;
};

// The model's counters that only the program can tell: all that it needs but load, cycles and waiting, which a busy
// machine tells.
std::vector<std::string> program_counters(const PowerModel& model);

struct BusyPower {
  double watts = 0;
  double log_half_width = 0;  // 90%, as the model has it
  bool is_held = false;       // at the edge of the model's samples: PowerForecast::is_held
};

// Load is 1, no CPU waits, cycles are those of the setting's clock, else of the model's machine when it was busy. That
// copies slow each other is not in it. "missing-counters": a counter of program_counters() without events, or cycles
// of a machine whose clock isn't known.
Result<BusyPower> busy_power(const PowerModel& model, const BusyMachine& machine);

}  // namespace perfcast::measure
