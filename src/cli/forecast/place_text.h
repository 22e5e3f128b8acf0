#pragma once
// A placement as people read it.

#include <string>

#include "place/workload/placement.h"

namespace perfcast::cli {

struct PlaceView {
  size_t most_rows = 0;  // 0: all; rows of the front, and measured ones, stay in any case
};

std::string placement_text(const place::Placement& placement, const PlaceView& view);

}  // namespace perfcast::cli
