#include "measure/power/model/busy_machine.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/text.h"
#include "base/unknown.h"

namespace perfcast::measure {
namespace {

constexpr int kRows = 5;  // alike: the last one has neighbours and a past

std::optional<double> counter_of(const PowerModel& model, const BusyMachine& machine, const std::string& name) {
  // In the unit that it was learnt in.
  const double whole = model.features().is_percent(name) ? 100 : 1;
  switch (counter_role(name)) {
    case CounterRole::kLoad:
      return whole;
    case CounterRole::kUser:
      return (1 - machine.system_ratio) * whole;
    case CounterRole::kSystem:
      return machine.system_ratio * whole;
    case CounterRole::kWait:
      return 0;
    case CounterRole::kCycles:
      if (machine.setting.frequency_hz) return *machine.setting.frequency_hz * machine.cpus;
      return model.features().capacity(machine.setting.machine);
    case CounterRole::kInstructions:
    case CounterRole::kOther:
      break;
  }
  const auto events = machine.events_per_cpu_s.find(name);
  if (events == machine.events_per_cpu_s.end()) return std::nullopt;
  return events->second * machine.cpus;
}

}  // namespace

std::vector<std::string> program_counters(const PowerModel& model) {
  std::vector<std::string> names;
  for (const std::string& name : model.features().needed_counters()) {
    const CounterRole role = counter_role(name);
    if (role == CounterRole::kOther || role == CounterRole::kInstructions) names.push_back(name);
  }
  return names;
}

Result<BusyPower> busy_power(const PowerModel& model, const BusyMachine& machine) {
  PowerTable table;
  table.machines = {machine.setting.machine};
  table.workloads = {""};
  table.machine.assign(kRows, 0);
  table.workload = table.run = table.machine;
  table.time_s = Eigen::VectorXd::LinSpaced(kRows, 0, kRows - 1);
  table.watts = Eigen::VectorXd::Constant(kRows, kUnknown);
  table.counters = model.features().counters();
  table.values = Eigen::MatrixXd::Constant(kRows, static_cast<Eigen::Index>(table.counters.size()), kUnknown);
  const std::vector<std::string> needed = model.features().needed_counters();
  std::vector<std::string> missing;
  for (size_t c = 0; c < table.counters.size(); ++c) {
    const std::string& name = table.counters[c];
    if (std::find(needed.begin(), needed.end(), name) == needed.end()) continue;
    const auto value = counter_of(model, machine, name);
    if (!value) {
      missing.push_back(printable(name));
      continue;
    }
    table.values.col(static_cast<Eigen::Index>(c)).setConstant(*value);
  }
  if (!missing.empty()) {
    return Error{"missing-counters", "nothing tells " + join(missing, ", "), "",
                 "the counters that the model was made with: " + join(needed, ", ")};
  }
  const PowerSetting& setting = machine.setting;
  for (const auto& [value, into] : {std::pair{setting.frequency_hz, &table.frequency_hz},
                                    {setting.voltage_v, &table.voltage_v},
                                    {setting.temperature_c, &table.temperature_c},
                                    {setting.cores, &table.cores}}) {
    if (value) *into = Eigen::VectorXd::Constant(kRows, *value);
  }
  const auto forecast = model.forecast(table);
  if (!forecast) return forecast.error();
  return BusyPower{forecast->watts(kRows - 1), std::log(forecast->upper(kRows - 1) / forecast->watts(kRows - 1)),
                   forecast->is_held.back()};
}

}  // namespace perfcast::measure
