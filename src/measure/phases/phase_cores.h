#pragma once
// What a model of a core makes of each kind of phase, by the pieces of the trace that lie in it.

#include <cstddef>
#include <vector>

#include "profile/collect/qemu/phase_series.h"
#include "profile/core/design.h"
#include "profile/profile.h"

namespace perfcast::measure {

// Adds core_<design>_cycles_count to the metrics of each kind that has a piece. Nothing where there is no trace, or one
// for another instruction set. `kind_of`: of each interval.
void add_core_cycles(const PhaseSeries& series, const std::vector<size_t>& kind_of, const CoreDesign& design,
                     std::vector<PhaseKind>& kinds);

// The interval in which each piece lies. A piece of a window ends the instructions that it stands for; one of the first
// phase says itself how many came before.
std::vector<size_t> intervals_of_pieces(const PhaseSeries& series);

}  // namespace perfcast::measure
