#pragma once

#include <string>

#include "measure/tune/replay/replay.h"
#include "measure/tune/run/tuning.h"

namespace perfcast::measure {

// One search as the tuning that it would have been. A recording has no default: the median of its valid points stands
// for it, and as times are looked up the gain's interval is the gain.
Tuning replayed_tuning(const RecordedSpace& space, const Replay& replay, const ReplayedStrategy& strategy,
                       const ReplayedSearch& search, const std::string& source);

}  // namespace perfcast::measure
