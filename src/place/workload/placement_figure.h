#pragma once
// A placement as a picture: time against cost, or energy, or what a reader asks for.

#include <string>

#include "base/result.h"
#include "place/workload/placement.h"

namespace perfcast::place {

// One SVG file that stands alone, in light and dark. x: time, y: cost where two rows know theirs, else energy; both
// logarithmic. One marker and colour for each kind; filled and joined by a line: no other row beats it in both. Labels
// stand where they touch neither a mark nor each other, those of the front first; every mark has its name as a tooltip.
// "nothing-to-draw" where fewer than two rows know both.
Result<std::string> placement_svg(const Placement& placement);

}  // namespace perfcast::place
