#pragma once
// How much of a program's work an instrumented run saw that was ended before the program was through.

#include "measure/diagnose/observe/observation.h"
#include "profile/core/design.h"
#include "profile/profile.h"

namespace perfcast::measure {

// Of less of the work nothing is said of all of it.
inline constexpr double kLeastSeenWork = 0.2;

struct SeenWork {
  enum class Basis : uint8_t {
    kWhole,     // it was not ended
    kCounted,   // hardware counters counted the instructions of all
    kModelled,  // cycles that a model of this core takes for what was seen, beside those of the native run
    kNotKnown,  // nothing tells
  };
  Basis basis = Basis::kNotKnown;
  double ratio = 1;  // 0 to 1; 1 where it is not known
};

// `design` of this machine's core, null: not known; `clock_hz` that its CPUs run at, 0: not known. `seen`: the native
// run.
SeenWork seen_work(const Profile& profile, const Observation& seen, const CoreDesign* design, double clock_hz);

}  // namespace perfcast::measure
