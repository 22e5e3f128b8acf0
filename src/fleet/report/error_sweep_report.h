#pragma once
// Policies as the forecasts grow worse: as JSON and as tables for people.

#include <string>

#include "base/json_fwd.h"
#include "fleet/compare/error_sweep.h"

namespace perfcast::fleet {

// {points [..], break_even [..]}, to go into perfcast.schedule/1 as "error_sweep"
Json to_json(const ErrorSweep& sweep);
std::string to_text(const ErrorSweep& sweep);  // empty where nothing was run

std::string to_string(BreakEven::Verdict verdict);  // "crosses", "always-pays", "never-pays", "nothing-to-compare"

}  // namespace perfcast::fleet
