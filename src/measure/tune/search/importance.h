#pragma once
// How much hangs on each knob.

#include <cstdint>
#include <vector>

#include "measure/tune/search/candidates.h"

namespace perfcast::measure {

struct TriedSetting {
  size_t candidate = 0;
  double cost = 0;  // above 0
};

// A share for each knob, adding to 1: total effects (Jansen, Computer Physics Communications 117, 1999: half the mean
// square of what changing one knob changes) on the logarithm of the cost, by models of what was tried, over the
// candidates, divided by their sum. Empty where fewer than five settings were tried or all cost the same.
std::vector<double> knob_importance(const Candidates& candidates, const std::vector<TriedSetting>& tried,
                                    uint64_t seed);

}  // namespace perfcast::measure
