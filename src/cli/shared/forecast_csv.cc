#include <string>
#include <vector>

#include "base/report/table.h"
#include "base/text.h"
#include "cli/shared/forecast_text.h"

namespace perfcast::cli {
namespace {

constexpr int kCsvDigits = 6;

}  // namespace

std::string instances_csv(const program::ForecastReport& report) {
  struct Row {
    const program::PlatformRow& platform;
    const program::InstanceRow& instance;
  };
  std::vector<Row> rows;
  for (const program::PlatformRow& platform : report.rows) {
    for (const program::InstanceRow& instance : platform.instances) rows.push_back({platform, instance});
  }
  using Q = Quantity;
  using Instance = program::InstanceRow;
  using Server = program::Server;
  const auto of_instance = [](auto field) { return [field](const Row& row) { return row.instance.*field; }; };
  const auto of_server = [](auto field) { return [field](const Row& row) { return row.instance.server.*field; }; };
  const auto text = [](std::string Server::*field) {
    return [field](const Row& row) { return printable(row.instance.server.*field); };
  };
  return rows_csv(
      table_of<Row>("", rows,
                    {{"cloud", "", Q::kText, text(&Server::vendor)},
                     {"instance", "", Q::kText, text(&Server::name)},
                     {"platform", "", Q::kText, [](const Row& row) { return printable(row.platform.platform.name); }},
                     {"vcpus_count", "", Q::kNumber, of_server(&Server::vcpus)},
                     {"memory_gib", "", Q::kNumber, of_server(&Server::memory_gib)},
                     {"wall_s", "", Q::kSeconds, of_instance(&Instance::wall_s)},
                     {"copies_count", "", Q::kNumber, of_instance(&Instance::copies)},
                     {"memory_limits", "", Q::kYes, of_instance(&Instance::memory_limits)},
                     {"runs_per_hour", "", Q::kNumber, of_instance(&Instance::runs_per_hour)},
                     {"runs_per_hour_lower", "", Q::kNumber, of_instance(&Instance::runs_per_hour_lower)},
                     {"runs_per_hour_upper", "", Q::kNumber, of_instance(&Instance::runs_per_hour_upper)},
                     {"price_per_hour", "", Q::kMoney, of_instance(&Instance::price_per_hour)},
                     {"cost_per_1000_runs", "", Q::kMoney, of_instance(&Instance::cost_per_1000)},
                     {"currency", "", Q::kText, [&](const Row&) { return printable(report.currency); }},
                     {"cpu_share", "", Q::kText, [](const Row& row) { return name_of(row.instance.cpu_share); }}}),
      {.digits = kCsvDigits});
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
