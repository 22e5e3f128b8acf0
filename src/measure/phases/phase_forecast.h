#pragma once
// Forecasts of the time of a profile's phases, and how good they are with each program left out.

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/phases/phase_time_model.h"
#include "profile/profile.h"

namespace perfcast::measure {

struct PhaseForecast {
  std::vector<std::optional<double>> kind_s;   // of PhaseSet::kinds
  std::vector<std::optional<double>> slice_s;  // of Profile::phases; those of a kind add up to its own
  size_t programs = 0;                         // that it was learnt from
  PhaseTimeModel::Settings settings;
  // Errors of the same kind of forecast, each of those programs left out in turn, settings and all.
  std::vector<double> left_out_errors;
  // Half width of the 90% interval of the log of a phase's time, from these; absent below kFewPrograms.
  std::optional<double> half_width_log;
  // Machines that the times are of ("AMD EPYC"), in the order of the profiles: of more than one a forecast is of none.
  std::vector<std::string> machines;
  std::vector<std::string> skipped;  // commands of others without native times of phases: nothing to learn from
};
// Of fewer programs than this a forecast of another one may be far off.
inline constexpr size_t kFewPrograms = 10;

// `others`: profiles with native times by phase, of the machine that is forecast. Those of the same program are left
// out.
Result<PhaseForecast> forecast_phases(const Profile& profile, const std::vector<Profile>& others, int threads = 1);

// A phase of a program that was left out.
struct PhaseScore {
  std::string program, command;
  size_t kind = 0;
  double measured_s = 0, forecast_s = 0, mean_s = 0;  // mean: at the mean rate of the other programs
  std::optional<double> deviation_s;                  // of native runs
};

struct PhaseScores {
  std::vector<PhaseScore> phases;
  size_t programs = 0, without_times = 0;  // profiles that have no native times of phases
  std::vector<std::string> machines;       // that the times are of, as PhaseForecast's
};
// Mean absolute percentage errors, as ratios.
struct PhaseErrors {
  double phase = 0;          // of phases, each alike
  double phase_by_time = 0;  // of phases, by their share of their program's time, each program alike
  double whole = 0;          // of programs: sums of their phases
};
PhaseErrors phase_errors(const PhaseScores& scores, double PhaseScore::*forecast);
// What repeated native runs leave: the mean relative standard deviation; absent where none was repeated.
std::optional<double> noise_of(const PhaseScores& scores);

// Phases of at least 1% of their program's time; all profiles of the program that is scored are left out.
Result<PhaseScores> score_phases(const std::vector<Profile>& profiles, int threads);

}  // namespace perfcast::measure
