#include "program/forecast/forecast_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace perfcast::program {
namespace {

using Q = Quantity;

bool know_copies(const ForecastReport& report) {
  return std::ranges::any_of(report.rows, [](const PlatformRow& row) {
    return std::ranges::any_of(row.instances, [](const InstanceRow& one) { return one.cost_per_1000.has_value(); });
  });
}

std::string time_title(const std::string& basis) {
  if (basis == "cpu") return "CPU time";
  return basis == "wall" ? "wall time" : "time";
}

std::string cheapest_name(const PlatformRow& row) {
  if (!row.cost) return "";
  for (const InstanceRow& instance : row.instances) {
    if (instance.cost == row.cost) return instance.server.vendor + " " + instance.server.name;
  }
  return "";
}

// What is no forecast has no interval.
ReportValue time_interval(const PlatformRow& row) {
  return row.time_lower_s == row.time_upper_s ? "" : ReportValue(ValueRange{*row.time_lower_s, *row.time_upper_s});
}

std::string marks(const ForecastReport& report, const PlatformRow& row) {
  const bool sure = report.host && report.host->certainty != HostMatch::Certainty::kNearest;
  std::vector<std::string> words;
  if (row.is_host) words.emplace_back(sure ? "this host" : "nearest to this host");
  if (row.is_measured) words.emplace_back("measured");
  return join(words, ", ");
}

template <typename Value>
auto of_energy(Value value) {
  return [value](const PlatformRow& row) {
    return row.energy ? ReportValue(std::invoke(value, *row.energy)) : ReportValue();
  };
}

template <typename Value>
auto of_cpu(Value value) {
  return of_energy([value](const PlatformEnergy& energy) {
    return energy.cpu ? ReportValue(std::invoke(value, *energy.cpu)) : ReportValue();
  });
}

template <typename Value>
auto of_model(Value value) {
  return of_energy([value](const PlatformEnergy& energy) {
    return energy.model ? ReportValue(std::invoke(value, *energy.model)) : ReportValue();
  });
}

template <typename Value>
auto of_instance(Value value) {
  return [value](const PlacedInstance& row) { return ReportValue(std::invoke(value, *row.second)); };
}

template <typename Value>
auto of_server(Value value) {
  return [value](const PlacedInstance& row) { return ReportValue(std::invoke(value, row.second->server)); };
}

std::string general(const std::optional<double>& value, const char* unit = "") {
  return value ? fmt::format("{:g}{}", *value, unit) : "-";
}

std::string copies_words(const PlacedInstance& row) {
  const InstanceRow& instance = *row.second;
  if (!instance.copies) return "-";
  const bool unknown = !instance.server.memory_gib;
  return fmt::format("{:.0f}{}", *instance.copies, instance.memory_limits ? "*" : unknown ? "?" : "");
}

ReportValue runs_interval(const InstanceRow& row) {
  return row.runs_per_hour ? ReportValue(ValueRange{*row.runs_per_hour_lower, *row.runs_per_hour_upper}) : "";
}

}  // namespace

ReportTable platform_table(const ForecastReport& report) {
  using Row = PlatformRow;
  const std::string currency = report.currency.empty() ? "" : " " + report.currency;
  // A cost is of one run with the machine to itself: where copies side by side are known, instances have what people
  // pay.
  const bool costs = !know_copies(report);
  const auto marked = [&report](const Row& row) { return marks(report, row); };
  ReportTable table = table_of<Row>(
      "", report.rows,
      {{"id", "", Q::kText, [](const Row& row) { return row.platform.id; }},
       {"name", "platform", Q::kText, [](const Row& row) { return row.platform.name; }},
       {"vendor", "", Q::kText, [](const Row& row) { return row.platform.vendor; }},
       {"kind", "", Q::kText, [](const Row& row) { return unless_empty(row.platform.segment); }},
       {"arch", "", Q::kText, [](const Row& row) { return row.platform.arch; }},
       {"rpv", "rel. time", Q::kNumber, &Row::rpv},
       {"", "90% interval", Q::kNumber,
        [](const Row& row) {
          return ValueRange{row.lower, row.upper};
        }},
       {"lower", "", Q::kNumber, &Row::lower},
       {"upper", "", Q::kNumber, &Row::upper},
       {"time_s", time_title(report.time_basis), Q::kSeconds, &Row::time_s},
       {"", "90% interval", Q::kSeconds, time_interval},
       {"time_lower_s", "", Q::kSeconds, &Row::time_lower_s},
       {"time_upper_s", "", Q::kSeconds, &Row::time_upper_s},
       {"measured", "", Q::kYes, [](const Row& row) { return row.is_measured ? true : ReportValue(); }},
       {"cost", costs ? "cost per run" + currency : "", Q::kMoney, &Row::cost},
       {"", costs ? "on" : "", Q::kText, cheapest_name},
       {"", " ", Q::kText, marked},
       {"energy.basis", "", Q::kText, of_energy(&PlatformEnergy::basis)},
       {"energy.core_power_w", "", Q::kNumber, of_energy(&PlatformEnergy::core_w)},
       {"energy.energy_relative_ratio", "", Q::kNumber, of_energy(&PlatformEnergy::relative)},
       {"energy.energy_relative_lower_ratio", "", Q::kNumber, of_energy(&PlatformEnergy::lower)},
       {"energy.energy_relative_upper_ratio", "", Q::kNumber, of_energy(&PlatformEnergy::upper)},
       {"energy.energy_joules", "", Q::kJoules, of_energy(&PlatformEnergy::joules)},
       {"energy.energy_lower_joules", "", Q::kJoules, of_energy(&PlatformEnergy::lower_joules)},
       {"energy.energy_upper_joules", "", Q::kJoules, of_energy(&PlatformEnergy::upper_joules)},
       {"energy.energy_delay_joule_s", "", Q::kNumber, of_energy(&PlatformEnergy::energy_delay_js)},
       {"energy.tdp_w", "", Q::kNumber, of_cpu(&CpuPower::tdp_w)},
       {"energy.cores_count", "", Q::kCount, of_cpu(&CpuPower::cores)},
       {"energy.source", "", Q::kText, of_cpu(&CpuPower::source)},
       {"energy.power_model.file", "", Q::kText, of_model(&EnergyModel::source)},
       {"energy.power_model.cpus_count", "", Q::kCount, of_model(&EnergyModel::cpus)},
       {"energy.power_model.machine_power_w", "", Q::kNumber, of_model(&EnergyModel::machine_w)},
       {"energy.power_model.machine", "", Q::kText,
        of_model([](const EnergyModel& model) { return unless_empty(model.setting.machine); })},
       {"energy.power_model.frequency_hz", "", Q::kNumber,
        of_model([](const EnergyModel& model) { return model.setting.frequency_hz; })},
       {"energy_missing", "", Q::kText, [](const Row& row) { return unless_empty(row.energy_missing); }}});
  share_unit(table, "time_s");
  return table;
}

ReportTable instance_table(const std::vector<PlacedInstance>& instances) {
  using Row = PlacedInstance;
  return table_of<Row>(
      "", instances,
      {{"vendor", "cloud", Q::kText, of_server(&Server::vendor)},
       {"server", "instance", Q::kText, of_server(&Server::name)},
       {"", "platform", Q::kText, [](const Row& row) { return row.first->platform.name; }},
       {"vcpus", "vCPUs", Q::kNumber, of_server(&Server::vcpus),
        [](const Row& row) { return general(row.second->server.vcpus); }},
       {"threads_per_core", "", Q::kNumber, of_server(&Server::threads_per_core)},
       {"memory_gib", "memory", Q::kNumber, of_server(&Server::memory_gib),
        [](const Row& row) { return general(row.second->server.memory_gib, " GiB"); }},
       {"wall_s", "one run", Q::kSeconds, of_instance(&InstanceRow::wall_s)},
       {"core_s", "", Q::kSeconds, of_instance(&InstanceRow::core_s)},
       {"copies_count", "copies", Q::kCount, of_instance(&InstanceRow::copies), copies_words},
       {"memory_limits_copies", "", Q::kYes,
        [](const Row& row) { return row.second->memory_limits ? true : ReportValue(); }},
       {"runs_per_hour", "runs/hour", Q::kHuman, of_instance(&InstanceRow::runs_per_hour)},
       {"", "90% interval", Q::kHuman, of_instance(runs_interval)},
       {"runs_lower_per_hour", "", Q::kHuman, of_instance(&InstanceRow::runs_per_hour_lower)},
       {"runs_upper_per_hour", "", Q::kHuman, of_instance(&InstanceRow::runs_per_hour_upper)},
       {"cost_per_1000_runs", "cost/1000 runs", Q::kMoney, of_instance(&InstanceRow::cost_per_1000)},
       {"price_per_hour", "price/hour", Q::kMoney, of_instance(&InstanceRow::price_per_hour),
        [](const Row& row) { return row.second->price_per_hour ? price_text(*row.second->price_per_hour) : "-"; }},
       {"cost", "cost/run", Q::kMoney, of_instance(&InstanceRow::cost)},
       {"cpu_share", "vCPUs are", Q::kText, [](const Row& row) {
          return row.second->cpu_share == CpuShare::kOwn ? ReportValue() : ReportValue(name_of(row.second->cpu_share));
        }}});
}

ReportTable instance_table_for_people(const ForecastReport& report, const std::vector<PlacedInstance>& instances) {
  const auto any = [&](auto field) {
    return std::ranges::any_of(instances, [&](const PlacedInstance& row) { return (row.second->*field).has_value(); });
  };
  std::vector<std::string_view> names = {"vendor", "server", "platform", "vcpus", "memory_gib", "wall_s"};
  if (any(&InstanceRow::runs_per_hour)) names.insert(names.end(), {"copies_count", "runs_per_hour", "90% interval"});
  if (any(&InstanceRow::price_per_hour)) names.push_back("price_per_hour");
  names.push_back(any(&InstanceRow::cost_per_1000) ? "cost_per_1000_runs" : "cost");
  if (std::ranges::any_of(instances, [](const auto& row) { return row.second->cpu_share != CpuShare::kOwn; }))
    names.push_back("cpu_share");
  ReportTable table = picked(instance_table(instances), names);
  if (report.currency.empty()) return table;
  for (ReportColumn& column : table.columns) {
    if (column.quantity == Q::kMoney) column.title += " " + report.currency;
  }
  return table;
}

std::string price_text(double price) {
  std::string text = money_text(price, 5);
  const size_t point = text.find('.');
  while (text.ends_with('0') && text.size() > point + 3) text.pop_back();
  return text;
}

}  // namespace perfcast::program
