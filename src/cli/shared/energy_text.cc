#include "cli/shared/energy_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/statistics.h"
#include "base/text.h"
#include "program/forecast/number_text.h"

namespace perfcast::cli {
namespace {

constexpr size_t kEnergyWidth = 118;

std::string folded(const std::string& text, const std::string& indent = "  ", const std::string& first = "") {
  return wrapped(text, kEnergyWidth, first, indent) + "\n";
}

std::string shown_table(const TextTable& table, const ForecastView& view) {
  return view.is_markdown ? table.to_markdown() : table.to_text();
}

std::string ratio_in_words(double value) { return fmt::format("{:.2f}", value); }

std::string watts_in_words(const std::optional<double>& watts) { return watts ? program::in_unit(*watts, "W") : "-"; }

std::string or_dash(const std::optional<double>& joules) { return joules ? joules_in_words(*joules) : "-"; }

std::string interval_in_words(const MeterFacts& meter) {
  return std::isnan(meter.interval_s) ? "as written" : human_seconds(meter.interval_s);
}

std::string missing_text(const std::vector<MissingMeter>& missing) {
  std::string text;
  for (const MissingMeter& each : missing) {
    text += folded(printable(each.reason), "           ", fmt::format("  {:<8} ", each.kind));
    if (!each.advice.empty()) text += folded(printable(each.advice), "              ", "           -> ");
  }
  return text;
}

}  // namespace

std::string joules_in_words(double joules) { return program::in_unit(joules, "J"); }

std::string energy_as_table(const program::ForecastReport& report, const ForecastView& view) {
  if (!report.energy || report.energy->known == 0) return "";
  const bool joules = std::any_of(report.rows.begin(), report.rows.end(),
                                  [](const program::PlatformRow& row) { return row.energy && row.energy->joules; });
  TextTable table;
  table.add_column("platform", TextTable::Align::kLeft);
  table.add_column("rel. energy", TextTable::Align::kRight);
  table.add_column("90% interval", TextTable::Align::kRight);
  if (joules) {
    table.add_column("energy", TextTable::Align::kRight);
    table.add_column("90% interval", TextTable::Align::kRight);
    table.add_column("energy x time", TextTable::Align::kRight);
  }
  table.add_column("per core", TextTable::Align::kRight);
  table.add_column("power is", TextTable::Align::kLeft);
  size_t hidden = 0, unknown = 0;
  for (const program::PlatformRow& row : report.rows) {
    if (!row.energy) {
      ++unknown;
      continue;
    }
    const program::PlatformEnergy& energy = *row.energy;
    const bool is_measured = energy.basis == "measured";
    if (view.most_rows > 0 && table.rows() >= view.most_rows && !row.is_host && !is_measured) {
      ++hidden;
      continue;
    }
    std::vector<std::string> cells = {
        printable(row.platform.name), ratio_in_words(energy.relative),
        is_measured ? "" : ratio_in_words(energy.lower) + " .. " + ratio_in_words(energy.upper)};
    if (joules) {
      cells.push_back(or_dash(energy.joules));
      const bool interval = energy.joules && !is_measured;
      cells.push_back(interval ? joules_in_words(*energy.lower_joules) + " .. " + joules_in_words(*energy.upper_joules)
                               : "");
      cells.push_back(energy.energy_delay_js ? joules_in_words(*energy.energy_delay_js) + "s" : "-");
    }
    cells.push_back(watts_in_words(energy.core_w));
    cells.push_back(energy.basis);
    table.add_row(std::move(cells));
  }
  if (table.rows() == 0) return "";
  std::string text = "\n" + shown_table(table, view);
  if (hidden > 0) text += fmt::format("{} more platforms: --all shows them, --filter narrows the table\n", hidden);
  if (unknown > 0) {
    text += fmt::format(
        "{} platform{} not listed: the name does not say which CPU it is, so its power is unknown (--json has each "
        "reason)\n",
        unknown, unknown == 1 ? "" : "s");
  }
  return text;
}

// Time and joules over the clock; the best are marked.
std::string frequencies_as_table(const program::ForecastReport& report, const ForecastView& view) {
  if (!report.frequencies) return "";
  const program::FrequencyReport& found = *report.frequencies;
  const FrequencyForecast& forecast = found.forecast;
  const bool periods = forecast.best_period.has_value();
  TextTable table;
  table.add_column("clock", TextTable::Align::kRight);
  table.add_column("time", TextTable::Align::kRight);
  table.add_column("energy", TextTable::Align::kRight);
  table.add_column("energy x time", TextTable::Align::kRight);
  if (periods) table.add_column("in the period", TextTable::Align::kRight);
  table.add_column("", TextTable::Align::kLeft);
  std::vector<double> times_s;
  times_s.reserve(forecast.points.size());
  for (const FrequencyPoint& point : forecast.points) times_s.push_back(point.time_s);
  const std::vector<std::string> times = seconds_column(times_s);
  for (size_t i = 0; i < forecast.points.size(); ++i) {
    const FrequencyPoint& point = forecast.points[i];
    std::vector<std::string> cells = {program::in_unit(point.frequency_hz, "Hz"), times[i],
                                      joules_in_words(point.joules), joules_in_words(point.energy_delay_js) + "s"};
    if (periods) cells.push_back(point.period_joules ? joules_in_words(*point.period_joules) : "-");
    std::vector<std::string> words;
    if (i == forecast.best_energy) words.emplace_back("least energy");
    if (i == forecast.best_energy_delay) words.emplace_back("least energy x time");
    if (forecast.best_period == i) words.emplace_back("least in the period");
    cells.push_back(join(words, ", "));
    table.add_row(std::move(cells));
  }
  std::string text = fmt::format(
      "time and energy by clock on {}: the program waits for memory {:.0f}% of the time ({}); the forecast time holds "
      "at {}",
      printable(found.platform), 100 * found.memory_ratio, found.memory_source,
      program::in_unit(found.time_at_hz, "Hz"));
  if (found.period_s) text += fmt::format("; a run every {}", human_seconds(*found.period_s));
  return "\n" + folded(text) + shown_table(table, view);
}

std::string meters_text(const EnergyRun& listed) {
  std::string text;
  TextTable table;
  table.add_column("meter", TextTable::Align::kLeft);
  table.add_column("covers", TextTable::Align::kLeft);
  table.add_column("reads", TextTable::Align::kLeft);
  table.add_column("every", TextTable::Align::kRight);
  table.add_column("accuracy", TextTable::Align::kLeft);
  for (const MeterSummary& summary : listed.meters) {
    const MeterFacts& meter = summary.meter;
    const std::string accuracy =
        meter.accuracy_ratio ? fmt::format("{:.1f}%, {}", 100 * *meter.accuracy_ratio, meter.accuracy) : meter.accuracy;
    table.add_row({printable(meter.name), printable(meter.covers), to_string(meter.reading) + ", " + meter.unit,
                   interval_in_words(meter), printable(accuracy)});
  }
  if (table.rows() > 0) text += table.to_text();
  if (listed.missing.empty()) return text;
  if (table.rows() > 0) text += "\n";
  return text + "not available here:\n" + missing_text(listed.missing);
}

std::string energy_run_text(const EnergyRun& run) {
  const auto [shortest, longest] = std::minmax_element(run.wall_s.begin(), run.wall_s.end());
  std::string text = folded("command: " + printable(join(run.command, " ")));
  text += "time: " + human_seconds(median(run.wall_s));
  if (run.wall_s.size() > 1) {
    text += fmt::format(" (median of {} runs, {} to {})", run.wall_s.size(), human_seconds(*shortest),
                        human_seconds(*longest));
  }
  text += "; CPU time " + human_seconds(median(run.cpu_s)) + "\n";
  TextTable table;
  table.add_column("meter", TextTable::Align::kLeft);
  table.add_column("energy", TextTable::Align::kRight);
  table.add_column("+-", TextTable::Align::kRight);
  table.add_column("mean power", TextTable::Align::kRight);
  table.add_column("idle", TextTable::Align::kRight);
  table.add_column("above idle", TextTable::Align::kRight);
  table.add_column("energy x time", TextTable::Align::kRight);
  table.add_column("covers", TextTable::Align::kLeft);
  std::string details;
  for (const MeterSummary& meter : run.meters) {
    const std::string name = printable(meter.meter.name);
    if (meter.joules) {
      table.add_row({name, or_dash(meter.joules), or_dash(meter.uncertainty_joules), watts_in_words(meter.mean_w),
                     watts_in_words(meter.idle_w), or_dash(meter.above_idle_joules),
                     or_dash(meter.energy_delay_js) + "s", printable(meter.meter.covers)});
    } else {
      details += folded("no joules of " + name + ": " + printable(meter.why_missing));
    }
    for (const EnergyWarning& warning : meter.warnings)
      details += folded("warning: " + name + ": " + printable(warning.message));
  }
  for (const EnergyWarning& warning : run.warnings) details += folded("warning: " + printable(warning.message));
  if (table.rows() > 0) {
    text += "\n" + table.to_text();
    text += run.idle_s > 0
                ? folded(fmt::format(
                      "the idle machine was measured for {} before; its power is in \"energy\", not in \"above idle\"",
                      human_seconds(run.idle_s)))
                : folded("the idle machine was not measured; its power is in \"energy\"");
    text += folded(
        "+- is the uncertainty of the readings. It includes the meter's accuracy if the meter states one (--list)");
  }
  text += details;
  if (!run.has_joules())
    text +=
        "\n" + folded(
                   "no joules: no meter gave any; --meter FILE reads an external meter's log, or what ipmitool writes "
                   "meanwhile (docs/energy.md)");
  return run.missing.empty() ? text : text + "\nnot available here:\n" + missing_text(run.missing);
}

}  // namespace perfcast::cli
