#include "machine/meter/frequency_energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/csv.h"
#include "base/significant.h"
#include "base/text.h"

namespace perfcast {
namespace {

constexpr double kMostTable_w = 2e4;  // of one machine
constexpr double kLeastClock_hz = 1e7, kMostClock_hz = 2e10;

std::string without_comments(std::string_view csv) {
  std::string text;
  text.reserve(csv.size());
  for (const std::string& line : split(csv, '\n')) {
    // Comments stay as empty lines, so that errors name the right one; CSV skips those.
    if (!trim(line).starts_with("#")) text += line;
    text += '\n';
  }
  return text;
}

Error bad_power(const CsvTable& table, size_t row, const char* column) {
  return {"bad-number", std::string("the value of ") + column + " can't be", table.where(row),
          "frequency_hz above 0, active_w above 0, idle_w from 0"};
}

Error bad_watts(const CsvTable& table, size_t row, const char* column, double watts) {
  return {"bad-number", fmt::format("{} of {} W is more than one machine draws", column, significant(watts, 4)),
          table.where(row), fmt::format("watts: {} if that was in milliwatts", significant(watts * 1e-3, 4))};
}

}  // namespace

std::string clock_that_fits(double frequency_hz) {
  if (frequency_hz >= kLeastClock_hz && frequency_hz <= kMostClock_hz) return "";
  struct Unit {
    double hz;
    const char* name;
  };
  for (const Unit& unit : {Unit{1e9, "GHz"}, {1e6, "MHz"}, {1e3, "kHz"}}) {
    const double in_it = frequency_hz * unit.hz;
    if (in_it >= kLeastClock_hz && in_it <= kMostClock_hz)
      return fmt::format("Hz: {} for {} {}", significant(in_it, 4), significant(frequency_hz, 4), unit.name);
  }
  return fmt::format("Hz, from {:.0e} to {:.0e}", kLeastClock_hz, kMostClock_hz);
}

Result<std::vector<FrequencyPower>> parse_frequency_table(std::string_view csv, const std::string& source,
                                                          std::string* form) {
  const auto table = CsvTable::parse_any_form(without_comments(csv), source);
  if (!table) return table.error();
  if (form != nullptr) *form = table->form();
  const auto frequency = table->column("frequency_hz"), active = table->column("active_w");
  if (!frequency || !active) {
    Error error = frequency ? active.error() : frequency.error();
    error.expected = "the columns frequency_hz, active_w and, where it is known, idle_w";
    return error;
  }
  const auto idle = table->find_column("idle_w");
  std::vector<FrequencyPower> rows;
  rows.reserve(table->rows());
  for (size_t row = 0; row < table->rows(); ++row) {
    FrequencyPower power;
    const auto hz = table->number(row, *frequency);
    if (!hz) return hz.error();
    const auto watts = table->number(row, *active);
    if (!watts) return watts.error();
    power.frequency_hz = hz->value_or(0);
    power.active_w = watts->value_or(0);
    if (!(power.frequency_hz > 0)) return bad_power(*table, row, "frequency_hz");
    if (std::string fits = clock_that_fits(power.frequency_hz); !fits.empty()) {
      return Error{"bad-number",
                   fmt::format("frequency_hz of {} Hz is no processor's clock", significant(power.frequency_hz, 4)),
                   table->where(row), std::move(fits)};
    }
    if (!(power.active_w > 0)) return bad_power(*table, row, "active_w");
    if (power.active_w > kMostTable_w) return bad_watts(*table, row, "active_w", power.active_w);
    if (idle) {
      const auto idle_w = table->number(row, *idle);
      if (!idle_w) return idle_w.error();
      power.idle_w = *idle_w;
      if (power.idle_w && !(*power.idle_w >= 0)) return bad_power(*table, row, "idle_w");
      if (power.idle_w && *power.idle_w > kMostTable_w) return bad_watts(*table, row, "idle_w", *power.idle_w);
      if (power.idle_w && *power.idle_w > power.active_w) {
        return Error{"bad-number",
                     fmt::format("active_w of {} W is below idle_w of {} W", significant(power.active_w, 4),
                                 significant(*power.idle_w, 4)),
                     table->where(row),
                     "active_w with idle power in it, both of the same meter: were the columns interchanged?"};
      }
    }
    rows.push_back(power);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const FrequencyPower& a, const FrequencyPower& b) { return a.frequency_hz < b.frequency_hz; });
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].frequency_hz != rows[i - 1].frequency_hz) continue;
    return Error{"duplicate-frequency", csv_number(rows[i].frequency_hz) + " Hz has two rows", source,
                 "one row for each"};
  }
  if (rows.size() < 2) {
    return Error{"too-few-rows", std::to_string(rows.size()) + " frequencies leave no choice", source, "two and more"};
  }
  return rows;
}

double time_at(const FrequencyQuestion& question, double frequency_hz) {
  return question.time_s * ((1 - question.memory_ratio) * question.time_at_hz / frequency_hz + question.memory_ratio);
}

Result<FrequencyForecast> forecast_over_frequency(const std::vector<FrequencyPower>& table,
                                                  const FrequencyQuestion& question) {
  const auto wrong = [](const char* message, const char* expected) {
    return usage_error("bad-usage", message, "frequencies", expected);
  };
  if (table.empty()) return wrong("there is no frequency", "a table with some");
  if (!(question.time_s > 0 && question.time_at_hz > 0))
    return wrong("there is no time to start from", "seconds and Hz above 0");
  if (!(question.memory_ratio >= 0 && question.memory_ratio <= 1))
    return wrong("the memory's share of the time is none", "0 to 1");
  if (question.period_s && !(*question.period_s > 0)) return wrong("the period is none", "seconds above 0");
  FrequencyForecast forecast;
  forecast.points.reserve(table.size());
  for (const FrequencyPower& power : table) {
    FrequencyPoint point;
    point.frequency_hz = power.frequency_hz;
    point.time_s = time_at(question, power.frequency_hz);
    point.joules = power.active_w * point.time_s;
    point.energy_delay_js = point.joules * point.time_s;
    if (question.period_s && power.idle_w && point.time_s <= *question.period_s)
      point.period_joules = point.joules + *power.idle_w * (*question.period_s - point.time_s);
    forecast.points.push_back(point);
  }
  for (size_t i = 1; i < forecast.points.size(); ++i) {
    const FrequencyPoint& point = forecast.points[i];  // faster than those before it
    if (point.joules <= forecast.points[forecast.best_energy].joules) forecast.best_energy = i;
    if (point.energy_delay_js <= forecast.points[forecast.best_energy_delay].energy_delay_js)
      forecast.best_energy_delay = i;
  }
  for (size_t i = 0; i < forecast.points.size(); ++i) {
    const auto& joules = forecast.points[i].period_joules;
    if (joules && (!forecast.best_period || *joules <= *forecast.points[*forecast.best_period].period_joules))
      forecast.best_period = i;
  }
  return forecast;
}

}  // namespace perfcast
