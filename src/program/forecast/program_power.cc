#include "program/forecast/program_power.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "base/text.h"
#include "machine/facts/platform.h"
#include "measure/power/model/busy_machine.h"
#include "profile/metrics/catalogue.h"
#include "profile/profile.h"

namespace perfcast::program {
namespace {

constexpr double kSameClock = 0.05;  // relative: nearer than any two steps of a clock that a model is made for
constexpr size_t kMostNamed = 8;

// Events that a program's code decides, by the names that perf has for them: the first metric that the profile has.
struct OwnEvent {
  const char* event;
  std::vector<const char*> metrics;
};
const std::vector<OwnEvent>& own_events() {
  static const std::vector<OwnEvent> events = {{"L1-dcache-loads", {"load_instructions_count", "loads_count"}},
                                               {"L1-dcache-stores", {"store_instructions_count", "stores_count"}},
                                               {"page-faults", {"page_faults_count"}},
                                               {"minor-faults", {"page_faults_minor_count"}},
                                               {"major-faults", {"page_faults_major_count"}},
                                               {"context-switches", {"context_switches_count"}}};
  return events;
}
constexpr const char* kBranchClasses[] = {"op_cond_branch_count", "op_jump_count",     "op_ind_branch_count",
                                          "op_call_count",        "op_ind_call_count", "op_ret_count"};

std::optional<double> value_of(const MetricValues& metrics, std::string_view name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> first_known(const MetricValues& metrics, const std::vector<const char*>& names) {
  for (const char* name : names) {
    if (const auto value = value_of(metrics, name)) return value;
  }
  return std::nullopt;
}

std::optional<double> branches_of(const MetricValues& metrics) {
  if (const auto counted = value_of(metrics, "hw_branches_count")) return counted;
  double sum = 0;
  for (const char* name : kBranchClasses) {
    const auto value = value_of(metrics, name);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum;
}

// Events of one run by the name that a table of samples has for them; absent: the profile doesn't tell.
std::optional<double> events_of(const MetricValues& metrics, const std::string& counter, bool is_host) {
  if (measure::counter_role(counter) == measure::CounterRole::kInstructions)
    return first_known(metrics, {"hw_instructions_count", "instructions_count"});
  if (counter == "branches" || counter == "branch-instructions") return branches_of(metrics);
  for (const OwnEvent& own : own_events()) {
    if (counter == own.event) return first_known(metrics, own.metrics);
  }
  const Catalogue& catalogue = Catalogue::built_in();
  const Metric* metric = catalogue.find(counter);
  for (const char* collector : {"perf_event", "papi", "likwid"}) {
    if (metric != nullptr) break;
    if (const std::string* name = catalogue.metric_of(collector, counter)) metric = catalogue.find(*name);
  }
  if (metric == nullptr || metric->kind != "counter" || (metric->unit != "1" && metric->unit != "byte"))
    return std::nullopt;
  if (metric->name.ends_with("_ratio") || (metric->name.starts_with("hw_") && !is_host)) return std::nullopt;
  return value_of(metrics, metric->name);
}

std::string clock_in_words(double hz) { return fmt::format("{:.4g} MHz", hz * 1e-6); }

// "cpus=8 or cpus=16": each as it may be pasted behind the file's name.
std::string listed(const std::set<std::string>& names, const char* key) {
  std::vector<std::string> shown;
  shown.reserve(kMostNamed);
  for (const std::string& name : names) {
    if (shown.size() == kMostNamed) break;
    if (!name.empty()) shown.push_back(key + printable(name));
  }
  if (shown.empty()) return std::string("no ") + key;
  return join(shown, " or ") + (names.size() > kMostNamed ? ", ..." : "");
}

Error wrong_choice(const ProgramPowerModel& model, const std::string& what, const std::string& expected) {
  return usage_error("bad-usage", printable(model.source) + ": " + what, "power-model", expected);
}

}  // namespace

Result<PowerMachine> power_machine(const ProgramPowerModel& model) {
  const std::vector<measure::PowerSetting>& settings = model.model.settings();
  if (settings.empty()) {
    return wrong_choice(model, "the file doesn't say at which clock and cores its samples were taken",
                        "a model that is fitted anew");
  }
  std::set<std::string> machines, clocks, cores;
  std::vector<const measure::PowerSetting*> left;
  for (const measure::PowerSetting& setting : settings) {
    machines.insert(setting.machine);
    if (setting.machine == model.machine || (model.machine.empty() && settings.front().machine == setting.machine))
      left.push_back(&setting);
  }
  if (left.empty()) {
    return wrong_choice(model, "there is no machine '" + printable(model.machine) + "'", listed(machines, "machine="));
  }
  if (model.machine.empty() && machines.size() > 1) {
    return wrong_choice(model, fmt::format("samples of {} machines", machines.size()), listed(machines, "machine="));
  }
  double clock_hz = 0;
  for (const measure::PowerSetting* setting : left) {
    if (!setting->frequency_hz) continue;
    clocks.insert(fmt::format("{:.4g}MHz", *setting->frequency_hz * 1e-6));
    const bool nearer = model.frequency_hz && std::abs(*setting->frequency_hz - *model.frequency_hz) <
                                                  std::abs(clock_hz - *model.frequency_hz);
    if (clock_hz == 0 || nearer || (!model.frequency_hz && *setting->frequency_hz > clock_hz))
      clock_hz = *setting->frequency_hz;
  }
  if (model.frequency_hz && clock_hz == 0) {
    return wrong_choice(model, "its samples are of no clock", "no clock=");
  }
  if (model.frequency_hz && std::abs(clock_hz / *model.frequency_hz - 1) > kSameClock) {
    return wrong_choice(model, "no samples at " + clock_in_words(*model.frequency_hz), listed(clocks, "clock="));
  }
  PowerMachine machine;
  const measure::PowerSetting* chosen = nullptr;
  for (const measure::PowerSetting* setting : left) {
    if (setting->frequency_hz.value_or(0) != clock_hz) continue;
    if (setting->cores) cores.insert(fmt::format("{:g}", *setting->cores));
    if (model.cpus && setting->cores && *setting->cores != *model.cpus) continue;
    if (chosen == nullptr || setting->cores.value_or(0) > chosen->cores.value_or(0)) chosen = setting;
  }
  if (chosen == nullptr) {
    return wrong_choice(model, fmt::format("no samples of {:g} CPUs", model.cpus.value_or(0)), listed(cores, "cpus="));
  }
  machine.setting = *chosen;
  const std::optional<double> cpus = model.cpus ? model.cpus : chosen->cores;
  if (!cpus) {
    return wrong_choice(model, "the samples don't say how many CPUs make a load of 100%",
                        "cpus=N behind the file's name");
  }
  machine.cpus = *cpus;
  return machine;
}

Result<std::vector<double>> power_clocks_hz(const ProgramPowerModel& model) {
  ProgramPowerModel at = model;
  at.frequency_hz = std::nullopt;
  const auto machine = power_machine(at);
  if (!machine) return machine.error();
  std::set<double> clocks_hz;
  for (const measure::PowerSetting& setting : model.model.settings()) {
    if (setting.machine == machine->setting.machine && setting.cores == machine->setting.cores &&
        setting.frequency_hz) {
      clocks_hz.insert(*setting.frequency_hz);
    }
  }
  return std::vector<double>(clocks_hz.begin(), clocks_hz.end());
}

Result<ProgramPower> program_power(const ProgramPowerModel& model, const Platform& platform, const Profile& profile,
                                   double core_s, bool is_host) {
  const auto machine = power_machine(model);
  if (!machine) return machine.error();
  const MetricValues metrics = Catalogue::built_in().derive(profile.metrics);
  const bool same_code = profile.host.arch.empty() || platform.arch.empty() || profile.host.arch == platform.arch;
  measure::BusyMachine busy;
  busy.setting = machine->setting;
  busy.cpus = machine->cpus;
  if (const auto system = value_of(metrics, "system_s"), user = value_of(metrics, "user_s");
      system && user && *system + *user > 0) {
    busy.system_ratio = *system / (*system + *user);
  }
  std::vector<std::string> missing;
  for (const std::string& counter : measure::program_counters(model.model)) {
    const auto events = same_code && core_s > 0 ? events_of(metrics, counter, is_host) : std::nullopt;
    if (events) {
      busy.events_per_cpu_s[counter] = *events / core_s;
    } else {
      missing.push_back(printable(counter));
    }
  }
  if (!missing.empty()) {
    return Error{"missing-counters",
                 same_code ? "the profile doesn't tell " + join(missing, ", ")
                           : fmt::format("the profile counted {} code, which tells nothing of {}", profile.host.arch,
                                         join(missing, ", ")),
                 model.source,
                 "a model of counters that the program decides: load, cycles, instructions, loads, stores"};
  }
  const auto power = measure::busy_power(model.model, busy);
  if (!power) return power.error();
  return ProgramPower{power->watts, power->watts / machine->cpus, power->log_half_width, power->is_held};
}

}  // namespace perfcast::program
