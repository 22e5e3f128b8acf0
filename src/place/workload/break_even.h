#pragma once
// From which size of a workload on one device is ahead of another: bisection on their forecasts.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "place/workload/placement.h"

namespace perfcast::place {

// The workload at a size on the device of a row; absent where it holds no more, or has no forecast. Sizes
// that a device holds are those up to some largest one.
using TimeAtSize = std::function<std::optional<SizedTime>(const std::string& device, int64_t size)>;

// Where `second` comes below `first`, which is no higher at the least size: sizes are doubled from `least` to `most`,
// and the first change is bisected to the size. Absent where there is none. `crossings_count`: changes that doubling
// sees.
struct SizeCrossing {
  std::optional<int64_t> at;
  int64_t crossings_count = 0;
};
SizeCrossing find_crossing(const std::function<double(int64_t)>& first, const std::function<double(int64_t)>& second,
                           int64_t least, int64_t most);

// The largest size in [least, most] that both hold; 0: none.
int64_t largest_size(const std::function<bool(int64_t)>& holds, int64_t least, int64_t most);

// The pairs: as named, else the best row against the best of each other kind, and against those that are best by
// another measure. Each by every measure that both know. Of a placement that is finished; `present`: the size that its
// rows are of, by which times that were measured scale those of other sizes.
// "unknown-device" at "break-even" with near names, "bad-usage" there for a row without a forecast or named twice,
// "does-not-fit" for a named one that holds no size.
Result<std::vector<PlaceBreakEven>> find_break_even(const Placement& placement, const TimeAtSize& time,
                                                    const std::optional<std::pair<std::string, std::string>>& named,
                                                    int64_t present, int64_t most);

}  // namespace perfcast::place
