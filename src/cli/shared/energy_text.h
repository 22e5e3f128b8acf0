#pragma once
// Joules as people read them: of a measured command, and beside a forecast.

#include <string>

#include "cli/shared/forecast_text.h"
#include "profile/collect/native/energy_run.h"
#include "program/forecast/forecast.h"

namespace perfcast::cli {

// "35.2 J", "1.2 kJ".
std::string joules_in_words(double joules);

// A forecast's energies, in the order of its rows; empty where it has none.
std::string energy_as_table(const program::ForecastReport& report, const ForecastView& view);
// Its time and joules over the clock, the best marked; empty where it has none.
std::string frequencies_as_table(const program::ForecastReport& report, const ForecastView& view);

// The verb `energy`: a command's time and joules, meter by meter, and why others have none.
std::string energy_run_text(const EnergyRun& run);
// The verb `energy --list`.
std::string meters_text(const EnergyRun& listed);

}  // namespace perfcast::cli
