#pragma once
// Joules beside seconds: what a run of a forecast program costs on each platform whose power is known, and over the
// clock of one.
//
// A row's basis is "measured" (somebody measured joules there), "modelled" (by a model of power, of a machine that is
// full of copies of the program) or "TDP-based": a core's share of its package's thermal design power for as long as
// the program keeps cores busy, with the wide interval of machine/meter/platform_power.h. Measured joules calibrate the
// TDP-based rows: how much more or less than its TDP's share the program draws is common to all platforms.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "machine/meter/frequency_energy.h"
#include "machine/meter/platform_power.h"
#include "program/forecast/program_power.h"

namespace perfcast {
struct Profile;
}  // namespace perfcast

namespace perfcast::program {

struct Bundle;
struct ForecastReport;

struct EnergyQuestion {
  PlatformPowerTable table;
  std::vector<std::pair<std::string, double>> measured_joules;  // platform, as find_platform(), and joules of one run
  std::vector<ProgramPowerModel> models;                        // of power, each of one platform
};

struct FrequencyRequest {
  // Power over the clock: measured, or by a model that knows its machine at several clocks (its `platform` and
  // `frequency_hz` don't count). Of a model it is the program's own: the busy CPUs' share of a machine full of copies.
  std::vector<FrequencyPower> table;
  std::optional<ProgramPowerModel> model;
  std::string platform;                // as find_platform(); empty: the host's
  std::optional<double> time_at_hz;    // the clock that its time is of; absent: the table's highest
  std::optional<double> memory_ratio;  // of the time; absent: as the model of the platform's core design has it
  std::optional<double> period_s;
};

// By which model of power a row is, and of which machine.
struct EnergyModel {
  std::string source;  // its file
  measure::PowerSetting setting;
  double cpus = 0, machine_w = 0;  // of the full machine
};

struct PlatformEnergy {
  std::string basis;
  double core_w = 0;  // power for each core that is busy; of a measured row as its joules and time have it
  // Against the geometric mean of all platforms whose power is known: the energy-relative vector, 90% interval. What
  // the program itself draws more than others cancels in it.
  double relative = 1, lower = 1, upper = 1;
  std::optional<double> joules, lower_joules, upper_joules;  // where there are seconds
  std::optional<double> energy_delay_js;                     // joules times the forecast time
  std::optional<CpuPower> cpu;                               // TDP-based
  std::optional<EnergyModel> model;                          // modelled
};

struct EnergySummary {
  size_t known = 0, platforms = 0;  // of the bundle
  double cores_busy = 1;            // for each second of the forecast's time
  // Measured over TDP-based joules, by what was measured; absent: nothing was.
  std::optional<double> calibration_ratio;
};

struct FrequencyReport {
  std::string platform;  // name
  double time_at_hz = 0, memory_ratio = 0;
  std::string memory_source;  // who says so
  std::string power_model;    // its file; empty: a table
  std::optional<double> period_s;
  FrequencyForecast forecast;
};

// What is wrong with a question, before there is a profile. Errors "bad-usage", "unknown-platform",
// "ambiguous-platform"; `where` is "measured-energy", "power-model" or
// "frequencies".
Status check_energy(const Bundle& bundle, const std::optional<EnergyQuestion>& energy,
                    const std::optional<FrequencyRequest>& frequencies);

// Fills the rows' energies, or why they have none; rows: every platform of the bundle, in its order, seconds filled in.
Status add_energy(const Bundle& bundle, const Profile& profile, const EnergyQuestion& question, ForecastReport& report);

// Errors: "no-seconds" (the platform's time isn't known), "unknown-memory-share".
Status add_frequencies(const Bundle& bundle, const Profile& profile, const FrequencyRequest& request,
                       ForecastReport& report);

}  // namespace perfcast::program
