#pragma once
// One name for a number that isn't known. Missing is never zero: what is computed from it isn't known either.

#include <cmath>
#include <limits>
#include <optional>

namespace perfcast {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// For fields that say so by being absent.
inline std::optional<double> if_known(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

}  // namespace perfcast
