#pragma once
// A forecast as people read it.

#include <string>

#include "scenario/forecast.h"

namespace perfcast {

// `explain`: groups and unusual features in full, besides the line that is always there.
std::string forecast_text(const ForecastReport& report, bool explain);

}  // namespace perfcast
