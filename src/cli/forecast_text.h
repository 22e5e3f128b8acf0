#pragma once
// A forecast as people read it.

#include <string>

#include "scenario/forecast.h"

namespace perfcast {

// `explain`: groups and unusual features in full, besides the line that is always there. Of the platforms the first
// `most_rows`, and behind them those that are this host or were measured; 0: all.
std::string forecast_text(const ForecastReport& report, bool explain, size_t most_rows);

}  // namespace perfcast
