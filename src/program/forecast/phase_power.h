#pragma once
// What a model of power makes of a profile's phases.

#include <optional>
#include <vector>

#include "base/result.h"
#include "measure/phases/phase_power.h"
#include "profile/profile.h"
#include "program/forecast/program_power.h"

namespace perfcast::program {

// `kind_s`: CPU seconds of each of the profile's phase_kinds on the model's machine, as they were forecast; absent: its
// native time is taken, where there is one. As program_power() has it, a phase for a program: events are the phase's
// over its time, the kernel's share of the time is the whole program's. The model's platform is not looked at: the
// machine is the one that the times are of. Errors are those of power_machine(); a phase whose time or counters aren't
// known has no power, and a note.
Result<measure::PhasePowers> phase_powers(const ProgramPowerModel& model, const Profile& profile,
                                          const std::vector<std::optional<double>>& kind_s);

}  // namespace perfcast::program
