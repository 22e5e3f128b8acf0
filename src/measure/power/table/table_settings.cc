#include "measure/power/table/table_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"

namespace perfcast::measure {
namespace {

constexpr double kMostFrequency_hz = 1e11, kMostVoltage_v = 1e4, kMostCores = 1e7;
constexpr size_t kMostClocks = 64;  // of a machine: more are measured, not set
constexpr double kClockSteps_mhz[] = {1, 10, 25, 50, 100, 250, 500, 1000};

}  // namespace

std::vector<SettingColumn> setting_columns(const PowerTable& table) {
  std::vector<SettingColumn> columns;
  for (const SettingColumn& column : {SettingColumn{&table.frequency_hz, "frequency", "Hz", kMostFrequency_hz},
                                      {&table.voltage_v, "voltage", "V", kMostVoltage_v},
                                      {&table.cores, "number of cores", "cores", kMostCores}}) {
    if (column.values->size() > 0) columns.push_back(column);
  }
  return columns;
}

Status leave_out_unplaced(PowerTable& table, std::vector<int>& given_run, const std::string& source,
                          PowerTableNotes& notes) {
  const std::vector<SettingColumn> columns = setting_columns(table);
  std::vector<size_t> kept;
  std::vector<std::string> missing;
  for (size_t r = 0; r < table.rows(); ++r) {
    const auto known = [r](const SettingColumn& column) {
      return !std::isnan((*column.values)(static_cast<Eigen::Index>(r)));
    };
    if (std::all_of(columns.begin(), columns.end(), known)) kept.push_back(r);
  }
  if (kept.size() == table.rows()) return {};
  for (const SettingColumn& column : columns) {
    if (const auto absent = column.values->array().isNaN().count(); absent > 0)
      missing.push_back(fmt::format("no {} in {}", column.name, absent));
  }
  const std::string found = join(missing, ", ");
  if (kept.empty()) {
    return Error{"bad-samples", fmt::format("all {} rows lack a setting: {}", table.rows(), found), source,
                 "a number in each row, or --ignore on the column"};
  }
  const size_t left_out = table.rows() - kept.size();
  notes.lines.push_back(fmt::format("{} of {} rows {} left out, since their setting is not known: {}", left_out,
                                    table.rows(), left_out == 1 ? "is" : "are", found));
  if (!given_run.empty()) {
    for (size_t i = 0; i < kept.size(); ++i) given_run[i] = given_run[kept[i]];
    given_run.resize(kept.size());
  }
  table = table_part(table, kept);
  number_runs(table, given_run);
  return {};
}

double clock_step_hz(const PowerTable& table) {
  double step_mhz = kClockSteps_mhz[0];
  for (const double candidate_mhz : kClockSteps_mhz) {
    step_mhz = candidate_mhz;
    std::map<int, std::set<double>> clocks;
    bool fits = true;
    for (Eigen::Index r = 0; fits && r < table.frequency_hz.size(); ++r) {
      if (std::isnan(table.frequency_hz(r))) continue;
      std::set<double>& of = clocks[table.machine[static_cast<size_t>(r)]];
      of.insert(std::round(table.frequency_hz(r) / (1e6 * step_mhz)));
      fits = of.size() <= kMostClocks;
    }
    if (fits) break;
  }
  return 1e6 * step_mhz;
}

Status check_settings(const PowerTable& table) {
  for (const SettingColumn& column : setting_columns(table)) {
    for (Eigen::Index r = 0; r < column.values->size(); ++r) {
      if ((*column.values)(r) > 0 && std::isfinite((*column.values)(r))) continue;
      return Error{"missing-setting", fmt::format("sample {} has no {}, which others have", r + 1, column.name), "",
                   "a number above 0 in each row, or no such column"};
    }
  }
  return {};
}

}  // namespace perfcast::measure
