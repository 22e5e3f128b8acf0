#pragma once
// Power and energy of a profile's phases as plain numbers, for the report. program/forecast/phase_power.h makes them
// by a model of power.

#include <optional>
#include <string>
#include <vector>

namespace perfcast::measure {

struct PhasePower {
  double machine_w = 0;       // of the machine that is full of copies of the phase, idle power with it
  double core_w = 0;          // its share for each CPU
  double time_s = 0;          // for which a CPU draws that
  double energy_joules = 0;   // core_w for time_s
  double log_half_width = 0;  // of the watts: of the joules, were the time exact
};

struct PhasePowers {
  std::vector<std::optional<PhasePower>> kinds;  // of PhaseSet::kinds; absent: `notes` say why
  std::string source;                            // the model's file
  std::string machine;                           // the model's machine and clock, for people; may be empty
  double cpus = 0;                               // that make it full
  double coverage_ratio = 0.9;
  std::vector<std::string> notes;
};

}  // namespace perfcast::measure
