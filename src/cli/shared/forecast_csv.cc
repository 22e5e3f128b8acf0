#include <optional>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/report/table.h"
#include "base/text.h"
#include "base/unknown.h"
#include "cli/shared/forecast_text.h"

namespace perfcast::cli {
namespace {

constexpr int kCsvDigits = 6;

}  // namespace

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
  using Row = program::PlatformRow;
  using Energy = program::PlatformEnergy;
  using Q = Quantity;
  const auto text = [](std::string Platform::*field) {
    return [field](const Row& row) { return printable(row.platform.*field); };
  };
  const auto energy = [](auto field) {
    return [field](const Row& row) { return row.energy ? ReportValue((*row.energy).*field) : ReportValue(); };
  };
  std::vector<ColumnOf<Row>> columns = {{"platform", "", Q::kText, text(&Platform::name)},
                                        {"vendor", "", Q::kText, text(&Platform::vendor)},
                                        {"kind", "", Q::kText, text(&Platform::segment)},
                                        {"arch", "", Q::kText, text(&Platform::arch)},
                                        {"rel_time_ratio", "", Q::kNumber, &Row::rpv},
                                        {"rel_time_lower_ratio", "", Q::kNumber, &Row::lower},
                                        {"rel_time_upper_ratio", "", Q::kNumber, &Row::upper},
                                        {"time_s", "", Q::kSeconds, &Row::time_s},
                                        {"time_lower_s", "", Q::kSeconds, &Row::time_lower_s},
                                        {"time_upper_s", "", Q::kSeconds, &Row::time_upper_s},
                                        {"cost", "", Q::kMoney, &Row::cost},
                                        {"measured", "", Q::kYes, &Row::is_measured},
                                        {"host", "", Q::kYes, &Row::is_host}};
  if (report.energy) {
    columns.insert(columns.end(), {{"rel_energy_ratio", "", Q::kNumber, energy(&Energy::relative)},
                                   {"rel_energy_lower_ratio", "", Q::kNumber, energy(&Energy::lower)},
                                   {"rel_energy_upper_ratio", "", Q::kNumber, energy(&Energy::upper)},
                                   {"energy_joules", "", Q::kJoules, energy(&Energy::joules)},
                                   {"energy_lower_joules", "", Q::kJoules, energy(&Energy::lower_joules)},
                                   {"energy_upper_joules", "", Q::kJoules, energy(&Energy::upper_joules)},
                                   {"energy_delay_joule_s", "", Q::kJoules, energy(&Energy::energy_delay_js)},
                                   {"energy_basis", "", Q::kText, energy(&Energy::basis)}});
  }
  return rows_csv(table_of<Row>("", report.rows, columns), {.digits = kCsvDigits});
}

}  // namespace perfcast::cli
