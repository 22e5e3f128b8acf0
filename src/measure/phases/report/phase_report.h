#pragma once
// The phases of a profile, measured and forecast, for people and for machines.

#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "measure/phases/phase_forecast.h"
#include "measure/phases/phase_power.h"

namespace perfcast::measure {

inline constexpr const char *kPhasesSchema = "perfcast.phases/1", *kPhaseScoresSchema = "perfcast.phase_scores/1";

// A name that people tell phases apart by: A, B, ...
std::string phase_name(size_t kind);
// What stands out in a phase: "floats, memory"; "mixed" where nothing does.
std::string phase_character(const MetricValues& metrics);

// The profile has phase_kinds. In lines of at most `width` columns; 0: as long as they are.
std::string phases_text(const Profile& profile, const std::optional<PhaseForecast>& forecast,
                        const std::optional<PhasePowers>& power = std::nullopt, size_t width = 0);
Json phases_json(const Profile& profile, const std::optional<PhaseForecast>& forecast,
                 const std::optional<PhasePowers>& power = std::nullopt);

std::string phase_scores_text(const PhaseScores& scores);
Json phase_scores_json(const PhaseScores& scores);

}  // namespace perfcast::measure
