#pragma once
// The phases of a profile as a page: time per instruction over the run, measured and forecast, its phases in colours;
// the time of each phase; what follows what.

#include <optional>
#include <string>

#include "measure/phases/phase_forecast.h"
#include "measure/phases/phase_power.h"

namespace perfcast::measure {

// The profile has phase_kinds. Deterministic; all text is escaped.
std::string phases_html(const Profile& profile, const std::optional<PhaseForecast>& forecast,
                        const std::optional<PhasePowers>& power = std::nullopt);

}  // namespace perfcast::measure
