#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/text.h"
#include "base/unknown.h"
#include "cli/shared/forecast_text.h"

namespace perfcast::cli {

std::string instances_csv(const program::ForecastReport& report) {
  const auto number = [](const std::optional<double>& value) { return csv_number(value.value_or(kUnknown)); };
  std::string csv = csv_line({"cloud", "instance", "platform", "vcpus_count", "memory_gib", "wall_s", "copies_count",
                              "memory_limits", "runs_per_hour", "runs_per_hour_lower", "runs_per_hour_upper",
                              "price_per_hour", "cost_per_1000_runs", "currency"});
  for (const program::PlatformRow& row : report.rows) {
    for (const program::InstanceRow& instance : row.instances) {
      const program::Server& server = instance.server;
      csv += csv_line({printable(server.vendor), printable(server.name), printable(row.platform.name),
                       number(server.vcpus), number(server.memory_gib), number(instance.wall_s),
                       number(instance.copies), instance.memory_limits ? "1" : "0", number(instance.runs_per_hour),
                       number(instance.runs_per_hour_lower), number(instance.runs_per_hour_upper),
                       number(instance.price_per_hour), number(instance.cost_per_1000), printable(report.currency)});
    }
  }
  return csv;
}

std::string forecast_csv(const program::ForecastReport& report) {
  const auto number = [](const std::optional<double>& value) { return csv_number(value.value_or(kUnknown)); };
  std::vector<std::string> columns = {"platform",
                                      "vendor",
                                      "kind",
                                      "arch",
                                      "rel_time_ratio",
                                      "rel_time_lower_ratio",
                                      "rel_time_upper_ratio",
                                      "time_s",
                                      "time_lower_s",
                                      "time_upper_s",
                                      "cost",
                                      "measured",
                                      "host"};
  if (report.energy) {
    columns.insert(columns.end(),
                   {"rel_energy_ratio", "rel_energy_lower_ratio", "rel_energy_upper_ratio", "energy_joules",
                    "energy_lower_joules", "energy_upper_joules", "energy_delay_joule_s", "energy_basis"});
  }
  std::string csv = csv_line(columns);
  for (const program::PlatformRow& row : report.rows) {
    const Platform& platform = row.platform;
    std::vector<std::string> cells = {printable(platform.name),
                                      printable(platform.vendor),
                                      printable(platform.segment),
                                      printable(platform.arch),
                                      number(row.rpv),
                                      number(row.lower),
                                      number(row.upper),
                                      number(row.time_s),
                                      number(row.time_lower_s),
                                      number(row.time_upper_s),
                                      number(row.cost),
                                      row.is_measured ? "1" : "0",
                                      row.is_host ? "1" : "0"};
    if (report.energy) {
      const auto of = [&](auto value) { return row.energy ? number(value(*row.energy)) : std::string(); };
      using Value = std::optional<double>;
      cells.push_back(of([](const program::PlatformEnergy& energy) { return Value(energy.relative); }));
      cells.push_back(of([](const program::PlatformEnergy& energy) { return Value(energy.lower); }));
      cells.push_back(of([](const program::PlatformEnergy& energy) { return Value(energy.upper); }));
      cells.push_back(of([](const program::PlatformEnergy& energy) { return energy.joules; }));
      cells.push_back(of([](const program::PlatformEnergy& energy) { return energy.lower_joules; }));
      cells.push_back(of([](const program::PlatformEnergy& energy) { return energy.upper_joules; }));
      cells.push_back(of([](const program::PlatformEnergy& energy) { return energy.energy_delay_js; }));
      cells.push_back(row.energy ? row.energy->basis : "");
    }
    csv += csv_line(cells);
  }
  return csv;
}

}  // namespace perfcast::cli
