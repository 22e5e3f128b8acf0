#pragma once
// One name for a number that isn't known. Missing is never zero: what is computed from it isn't known either.

#include <limits>

namespace perfcast {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace perfcast
