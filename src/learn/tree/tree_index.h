#pragma once
// Trees in a bundle hold indices as floats.

#include <cmath>
#include <cstdint>

namespace perfcast {

// An index below `limit`, or -1 where the value is none.
inline int32_t as_index(float value, int64_t limit) {
  if (!(value >= 0) || !(value < static_cast<float>(limit)) || value != std::floor(value)) return -1;
  return static_cast<int32_t>(value);
}

}  // namespace perfcast
