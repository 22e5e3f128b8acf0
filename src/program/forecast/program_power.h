#pragma once
// What models of power (measure/power/model/power_model.h) make of a forecast program: events of the profile over
// forecast seconds, on a machine that is full of its copies.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/power/model/power_model.h"

namespace perfcast {
struct Platform;
struct Profile;
}  // namespace perfcast

namespace perfcast::program {

struct ProgramPowerModel {
  std::string platform;  // as find_platform()
  std::string source;    // the model's file, for people
  measure::PowerModel model;
  std::string machine;                 // of the model's; empty: its only one
  std::optional<double> frequency_hz;  // of the model's; absent: the highest
  std::optional<double> cpus;          // that make the machine full; absent: the model's number of cores
};

// The machine of a model that is meant. Errors "bad-usage" with what there is to choose from; `where` is "power-model".
struct PowerMachine {
  measure::PowerSetting setting;
  double cpus = 0;
};
Result<PowerMachine> power_machine(const ProgramPowerModel& model);

// The clocks at which that machine was sampled with so many CPUs, the lowest first; errors of power_machine().
Result<std::vector<double>> power_clocks_hz(const ProgramPowerModel& model);

struct ProgramPower {
  double machine_w = 0;       // of the full machine, idle power with it
  double core_w = 0;          // for each CPU that is busy
  double log_half_width = 0;  // of both, 90%
  bool is_held = false;       // the program is beyond what the model's samples show: as if it were at their edge
};

// `core_s`: seconds that a run keeps a CPU busy on the platform. Counters are the program's own, taken on any machine
// of the platform's instruction set; those of a machine's caches and predictors only where `is_host`, the platform
// being the one that they were counted on. "missing-counters" says which can't be told.
Result<ProgramPower> program_power(const ProgramPowerModel& model, const Platform& platform, const Profile& profile,
                                   double core_s, bool is_host);

}  // namespace perfcast::program
