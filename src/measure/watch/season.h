#pragma once
// The season of a stream: the time after which its metrics recur.

#include <cstddef>
#include <span>

namespace perfcast::measure {

inline constexpr double kDay_s = 86400;

// From z: rows x columns, NaN absent, `interval_s` apart: the shortest lag at which the autocorrelation of all columns
// together is about as high as anywhere, and 0.75 at least, behind where it fell below 0. A day where there is none
// such in a fifth of the rows, or where a day is a multiple of it.
double find_season(std::span<const float> z, size_t columns, double interval_s);

}  // namespace perfcast::measure
