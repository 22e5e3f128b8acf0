#pragma once
// Times of rows: numbers of seconds, milliseconds, microseconds or nanoseconds, told apart by their size; or ISO 8601.

#include <optional>
#include <string_view>

namespace perfcast::measure {

// Seconds since 1970 of "2026-01-02T03:04:05", with a blank for the T, a fraction, Z, +01:00 or +0100; without a zone:
// UTC. Dates alone are their midnight.
std::optional<double> iso_time_s(std::string_view text);

// By the size: above 1e17 nanoseconds, 1e14 microseconds, 1e11 milliseconds (seconds since 1970 pass that in the year
// 5138).
double time_unit_s(double first);

}  // namespace perfcast::measure
