#include "program/forecast/phase_power.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "machine/facts/platform.h"
#include "program/forecast/number_text.h"

namespace perfcast::program {
namespace {

// A phase as a program of its own. The kernel's share of its time is known of the whole alone.
Profile program_of(const Profile& profile, const PhaseKind& kind) {
  Profile program;
  program.program = profile.program;
  program.host = profile.host;
  program.metrics = kind.metrics;
  program.metrics["instructions_count"] = kind.instructions_count;
  for (const char* name : {"user_s", "system_s"}) {
    if (const auto whole = profile.metrics.find(name); whole != profile.metrics.end()) program.metrics.insert(*whole);
  }
  return program;
}

}  // namespace

Result<measure::PhasePowers> phase_powers(const ProgramPowerModel& model, const Profile& profile,
                                          const std::vector<std::optional<double>>& kind_s) {
  const auto machine = power_machine(model);
  if (!machine) return machine.error();
  measure::PhasePowers powers;
  powers.source = model.source;
  std::vector<std::string> details;
  if (!machine->setting.machine.empty()) details.push_back(printable(machine->setting.machine));
  if (machine->setting.frequency_hz) details.push_back(in_unit(*machine->setting.frequency_hz, "Hz"));
  powers.machine = join(details, ", ");
  powers.cpus = machine->cpus;
  powers.coverage_ratio = model.model.coverage();
  Platform platform;  // the machine that the times are of: the same code runs there
  platform.arch = profile.host.arch;
  std::map<std::string, size_t> refused;
  size_t held = 0;
  const auto& kinds = profile.phase_kinds->kinds;
  for (size_t k = 0; k < kinds.size(); ++k) {
    std::optional<measure::PhasePower>& of_kind = powers.kinds.emplace_back();
    const std::optional<double> time_s = k < kind_s.size() && kind_s[k] ? kind_s[k] : kinds[k].native_cpu_s;
    if (!time_s || !(*time_s > 0)) {
      ++refused["the time isn't known, and events a second need seconds"];
      continue;
    }
    const auto power = program_power(model, platform, program_of(profile, kinds[k]), *time_s, false);
    if (!power) {
      ++refused[power.error().message];
      continue;
    }
    held += power->is_held ? 1 : 0;
    of_kind =
        measure::PhasePower{power->machine_w, power->core_w, *time_s, power->core_w * *time_s, power->log_half_width};
  }
  for (const auto& [why, count] : refused) {
    powers.notes.push_back(fmt::format("{} of {} phases {} no power by {}: {}", count, kinds.size(),
                                       count == 1 ? "has" : "have", printable(model.source), why));
  }
  if (held > 0) {
    powers.notes.push_back(
        fmt::format("{} of {} phases {} beyond the samples of {}: their power is that at the samples' edge", held,
                    kinds.size(), held == 1 ? "lies" : "lie", printable(model.source)));
  }
  return powers;
}

}  // namespace perfcast::program
