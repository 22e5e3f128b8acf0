#pragma once
// What `predict` is asked about joules.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/forecast/forecast.h"
#include "program/forecast/program_power.h"

namespace perfcast::cli {

struct EnergyOptions {
  bool energy = false;
  std::string power, frequencies, frequencies_of, period, frequency;
  std::vector<std::string> measured, models;
  std::optional<double> memory_share;
};

// --energy, --power, --power-model, --measured-energy, --frequencies, --frequencies-of, --frequency, --memory-share,
// --period.
void add_energy_options(CLI::App& verb, EnergyOptions& options);
// Of these --power, --power-model and --measured-energy.
void add_power_options(CLI::App& verb, EnergyOptions& options);

// Joules of "35.2", "1.2kJ", "3Wh", "500mJ"; nothing where it is none.
std::optional<double> joules_in_words(std::string_view text);

// "FILE[,cpus=N][,machine=NAME][,clock=2.4GHz]" of --power-model; the platform stays empty. `form`: what an error says
// is valid.
Result<program::ProgramPowerModel> read_program_power_model(std::string_view text, const char* form);

// Fills in `energy` and `frequencies` of the request. Errors name the option.
Status take_energy_options(const EnergyOptions& options, program::ForecastRequest& request);

}  // namespace perfcast::cli
