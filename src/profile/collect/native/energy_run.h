#pragma once
// A command run under meters: time and joules, for each meter of its own, and what is missing.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "machine/meter/energy_session.h"
#include "machine/meter/meter.h"

namespace perfcast {

inline constexpr const char* kEnergySchema = "perfcast.energy/1";

struct EnergyRunRequest {
  std::vector<std::string> command;  // argv; command[0] resolved by PATH
  double idle_s = 5;                 // measured before the first run; 0: idle is not measured
  int repeats = 1;
  double limit_s = 0;           // of a single run; 0: none
  bool accept_failure = false;  // a run that fails counts, too
  bool show_output = false;     // on stderr; else the command's output is discarded
  std::string cpu_root = MeterRoots().cpu;
  std::string clock_offset = EnergySessionOptions().clock_offset;  // as messages name it
};

// Of all runs. Medians where there are several.
struct MeterSummary {
  MeterFacts meter;
  std::vector<double> run_joules;  // of the runs that have any
  std::optional<double> joules;    // idle is not subtracted
  std::string why_missing;         // where there are none
  // Half width: what the readings leave open, and of several runs how far their median may be off (90%), together.
  std::optional<double> uncertainty_joules;
  std::optional<double> mean_w, idle_w, above_idle_joules;
  std::optional<double> energy_delay_js;  // joules times the median time
  std::vector<EnergyWarning> warnings;    // each kind once
};

struct EnergyRun {
  std::vector<std::string> command;
  std::vector<double> wall_s, cpu_s;  // of each run; with no command none
  double idle_s = 0;                  // that idle was measured for
  std::vector<MeterSummary> meters;
  std::vector<MissingMeter> missing;
  std::vector<EnergyWarning> warnings;  // of the machine
  bool has_joules() const;
};

// Errors: "bad-usage" (no command), those of run_process(), "limit-reached", "program-failed".
Result<EnergyRun> measure_energy(const EnergyRunRequest& request, const MeterSet& set,
                                 const std::function<void(const std::string&)>& progress);

// The meters alone, as a run without a command.
EnergyRun listed_meters(const MeterSet& set);

Json to_json(const EnergyRun& run);  // schema perfcast.energy/1

}  // namespace perfcast
