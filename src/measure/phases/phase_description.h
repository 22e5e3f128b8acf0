#pragma once
// From the series of an instrumented run, and where native runs spent their time, to the phases of a profile.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profile/collect/collector.h"
#include "profile/collect/native/code_course.h"
#include "profile/collect/qemu/phase_series.h"
#include "profile/core/design.h"
#include "profile/profile.h"

namespace perfcast::measure {

struct PhaseRequest {
  size_t kinds = 0;  // 0: as many as the program has, by choose_phases()
  uint64_t seed = 1;
  const CoreDesign* design = nullptr;  // of this host, whose model is run on the windows; null: none is
};

// Before the run: it keeps what phases are made of.
void ask_for_phases(CollectRequest& request);
// After it: by what it kept, with the core model of the host where the request has that.
void describe_phases(const CollectRequest& request, PhaseRequest phases, Profile& profile);

// Fills `phases` and `phase_kinds`. What is missing, and why, goes to the profile's warnings: "no-phases" (no series,
// or a program that ended at once), "no-native-phases" (no samples, or other code than in the instrumented run),
// "phases-of-a-part" (of several processes), "fewer-phases" (than were asked for).
void describe_phases(const PhaseSeries& series, const std::vector<CodeCourse>& native, const PhaseRequest& request,
                     Profile& profile);

}  // namespace perfcast::measure
