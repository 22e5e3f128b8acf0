#pragma once
// What a forecast's tables can't say by themselves: of all cores, of copies on instances, of prices.

#include <vector>

#include "program/forecast/forecast.h"
#include "program/forecast/platform_filter.h"

namespace perfcast::program {

// Without any forecast of all cores: says so in `unanswered`.
void note_all_cores(const InstanceForecaster& forecaster, ForecastReport& report);
void note_instances(const InstanceForecaster& forecaster, ForecastReport& report);
// Nobody would guess that they were there: instance types that a filter of memory leaves out, as theirs isn't known.
void note_unknown_memory(const std::vector<Server>& servers, const std::vector<PlatformFilter>& filters,
                         const std::vector<Platform>& platforms, ForecastReport& report);
// Sets the price list's facts, and what of it was not used.
void note_prices(const ForecastRequest& request, const Bundle& bundle, bool has_seconds, ForecastReport& report);

}  // namespace perfcast::program
