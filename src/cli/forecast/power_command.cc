// perfcast power: a model of power from samples of counters, and what it forecasts for others.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/report/table.h"
#include "base/significant.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/energy_text.h"
#include "cli/shared/named_file.h"
#include "cli/shared/power_model_file.h"
#include "measure/power/model/power_model.h"
#include "measure/power/model/power_phases.h"
#include "measure/power/model/unseen_settings.h"
#include "measure/power/table/power_table.h"

namespace perfcast::cli {
namespace {

constexpr size_t kLargestSamplesBytes = size_t{1} << 30;
constexpr const char* kFitSchema = "perfcast.power-fit/1";
constexpr const char* kForecastSchema = "perfcast.power-forecast/1";
constexpr size_t kFewCounted = 30;  // rows of a new machine: fewer tell its capacity badly
constexpr double kOtherUnit = 100;  // a median this far off is no error of a model

struct PowerArguments {
  std::string samples, model, series;
  std::optional<std::string> new_machine;
  std::vector<std::string> ignored;
  bool counts = false;
};

Result<measure::PowerTable> read_samples(const PowerArguments& arguments, bool needs_watts,
                                         measure::PowerTableNotes& notes) {
  if (Status there = check_named_file("--samples", arguments.samples); !there) return there.error();
  const auto text = read_file(arguments.samples, kLargestSamplesBytes);
  if (!text) return text.error();
  measure::PowerTableOptions options;
  options.counts = arguments.counts;
  options.ignored = arguments.ignored;
  options.needs_watts = needs_watts;
  return measure::read_power_table(*text, arguments.samples, options, notes);
}

void print_notes(const measure::PowerTableNotes& notes, const CommonOptions& options) {
  if (options.quiet) return;
  for (const std::string& line : notes.lines) std::fprintf(stderr, "note: %s\n", line.c_str());
}

// "shared-line 0.0003/0.003 on history inputs + trees on history inputs": kinds, each once, and what they read.
std::string model_in_words(const std::string& chosen) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kKinds = {
      {{"shared-line", "sum of inputs x coefficients"},
       {"nonnegative", "idle power + costs that only add"},
       {"least-squares", "idle power + counters x coefficients, by least squares"},
       {"gaussian-process", "interpolation between similar samples"},
       {"trees", "decision trees"}}};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kInputs = {
      {{"load inputs", "the load"},
       {"counters inputs", "the load and counters"},
       {"history inputs", "the load and counters, also those of the sample before"},
       {"plain inputs", "the columns as they are"}}};
  std::vector<std::string> kinds;
  for (const auto& [name, words] : kKinds) {
    if (chosen.find(name) != std::string::npos) kinds.emplace_back(words);
  }
  if (kinds.empty()) return printable(chosen);
  std::string text = (kinds.size() > 1 ? "mean of: " : "") + join(kinds, "; ");
  for (const auto& [name, words] : kInputs) {
    if (chosen.find(name) == std::string::npos) continue;
    text += fmt::format("; inputs: {}", words);
    break;
  }
  return text + fmt::format(" ({})", printable(chosen));
}

std::string card_text(const measure::PowerModel& model) {
  const measure::PowerModelCard& card = model.card();
  std::string text =
      fmt::format("error for a new {}{}: {}; error of the mean power as a forecast: {}\n",
                  card.new_machine ? "machine" : card.left_out, card.new_machine ? " with as many samples" : "",
                  percent(card.error), percent(card.mean_power_error));
  text += fmt::format("{:.0f}% interval: from {:.0f}% below the forecast to {:.0f}% above it{}\n",
                      100 * model.coverage(), -100 * std::expm1(-model.half_width()),
                      100 * std::expm1(model.half_width()), card.new_machine ? ", typically" : "");
  if (card.new_machine) {
    text += fmt::format("{} samples of {} known machines; {} of '{}'\n", card.rows - card.new_machine->samples,
                        card.new_machine->known_machines,
                        card.new_machine->samples == 0 ? "none" : std::to_string(card.new_machine->samples),
                        printable(card.new_machine->machine));
  } else {
    text += fmt::format("{} samples of {} {} in {} {}\n", card.rows, card.workloads.size(),
                        card.left_out == "workload" ? "workloads" : "stretches of time (fewer than three workloads)",
                        card.groups.size(), card.groups.size() == 1 ? "group" : "groups");
  }
  text += fmt::format("model: {}\n\n", model_in_words(card.chosen));
  TextTable table;
  table.add_column(card.left_out + " left out", TextTable::Align::kLeft);
  table.add_column("error", TextTable::Align::kRight);
  for (const auto& [name, error] : card.error_by_workload) {
    table.add_row({name.empty() ? "(no name)" : printable(name), percent(error)});
  }
  return text + table.to_text();
}

// What a person should know of a new machine's rows before the model is believed.
void note_new_machine(const measure::PowerTable& table, const std::string& machine, measure::PowerTableNotes& notes) {
  size_t rows = 0, given = 0;
  for (size_t r = 0; r < table.rows(); ++r) {
    if (table.machines[static_cast<size_t>(table.machine[r])] != machine) continue;
    ++rows;
    if (!std::isnan(table.watts(static_cast<Eigen::Index>(r)))) ++given;
  }
  if (rows == 0) {
    std::vector<std::string> names;
    for (size_t m = 0; m < table.machines.size(); ++m) {
      // Those whose rows were all left out have a name and no row.
      if (std::find(table.machine.begin(), table.machine.end(), static_cast<int>(m)) == table.machine.end()) continue;
      names.push_back(table.machines[m].empty() ? "(no name)" : printable(table.machines[m]));
    }
    notes.lines.push_back(
        fmt::format("there are no rows of '{}', only of {}; its power is forecast from those machines alone",
                    printable(machine), join(names, ", ")));
    return;
  }
  if (given == 0) {
    notes.lines.push_back(
        fmt::format("no row of '{}' has a power; it is forecast from the other machines alone", printable(machine)));
  }
  if (rows < kFewCounted && table.frequency_hz.size() == 0) {
    notes.lines.push_back(fmt::format(
        "{} {} of '{}' tell little about how many cycles it has when it is busy; rows without power help, too", rows,
        rows == 1 ? "row" : "rows", printable(machine)));
  }
}

int run_fit(const PowerArguments& arguments, const CommonOptions& options) {
  for (const Status& status :
       {check_output_file("-o", options.output), check_not_read("-o", options.output, {arguments.samples})}) {
    if (!status) return report_error(status.error(), options);
  }
  measure::PowerTableNotes notes;
  const auto table = read_samples(arguments, true, notes);
  if (!table) return report_error(table.error(), options);
  if (arguments.new_machine) note_new_machine(*table, *arguments.new_machine, notes);
  print_notes(notes, options);
  const auto model = [&] {
    ProgressLine line(options);
    line.show("fitting");
    if (arguments.new_machine) {
      measure::NewMachineOptions fit;
      fit.machine = *arguments.new_machine;
      fit.seed = options.seed;
      return measure::PowerModel::fit_new_machine(*table, fit);
    }
    measure::PowerModelOptions fit;
    fit.seed = options.seed;
    return measure::PowerModel::fit(*table, measure::all_rows(*table), fit);
  }();
  if (!model) {
    Error error = model.error();
    if (error.where.empty()) error.where = arguments.samples;
    return report_error(error, options);
  }
  if (const double step_hz = model->features().clock_step_hz(); step_hz > 1e6 && !options.quiet) {
    std::fprintf(stderr,
                 "note: almost every sample has its own frequency, so perfcast rounds frequencies to steps of %g MHz\n",
                 step_hz / 1e6);
  }
  if (options.output == "-") return write_result(to_text(model->to_json()), options);
  if (Status written = write_file_atomically(options.output, to_text(model->to_json())); !written) {
    return report_error(written.error(), options);
  }
  CommonOptions said = options;
  said.output = "-";
  if (options.json) {
    const Json whole = model->to_json();
    Json json = {{"schema", kFitSchema}, {"model", options.output}};
    for (const auto& [key, value] : whole["card"].items()) json[key] = value;
    json["coverage_ratio"] = model->coverage();
    json["half_width_log"] = model->half_width();
    return write_result(to_text(json), said);
  }
  return options.quiet ? kExitDone : write_result(card_text(*model), said);
}

// One phase of a run, or the whole of it.
struct PhaseRow {
  std::string machine, workload;
  int run = 0, phase = 1;  // the phase of its run
  double from_s = kUnknown, duration_s = kUnknown;
  size_t samples = 0;
  double watts = 0, lower = 0, upper = 0, measured = kUnknown, energy_joules = kUnknown;
};

std::vector<PhaseRow> phase_rows(const measure::PowerTable& table, const measure::PowerForecast& forecast) {
  std::vector<PhaseRow> rows;
  for (const measure::PowerPhase& phase : measure::power_phases(table, forecast.watts, {})) {
    PhaseRow row;
    row.machine = table.machines[static_cast<size_t>(table.machine[phase.from])];
    row.workload = table.workloads[static_cast<size_t>(table.workload[phase.from])];
    row.run = table.run[phase.from] + 1;
    if (!rows.empty() && rows.back().run == row.run) row.phase = rows.back().phase + 1;
    row.samples = phase.to - phase.from;
    const auto from = static_cast<Eigen::Index>(phase.from), count = static_cast<Eigen::Index>(row.samples);
    row.watts = forecast.watts.segment(from, count).mean();
    row.lower = forecast.lower.segment(from, count).mean();
    row.upper = forecast.upper.segment(from, count).mean();
    row.measured = table.watts.segment(from, count).mean();
    row.from_s = table.time_s(from);
    if (count > 1) {
      // The last sample stands for as long as one does at the mean.
      const double span_s = table.time_s(from + count - 1) - table.time_s(from);
      // Samples of one and the same time say nothing of how long it was.
      if (span_s > 0) {
        row.duration_s = span_s * static_cast<double>(count) / static_cast<double>(count - 1);
        row.energy_joules = row.watts * row.duration_s;
      }
    }
    rows.push_back(row);
  }
  return rows;
}

Status check_unit(const measure::PowerTable& table, const measure::PowerForecast& forecast, const std::string& source) {
  std::vector<double> ratios;
  for (Eigen::Index r = 0; r < table.watts.size(); ++r) {
    if (!std::isnan(table.watts(r))) ratios.push_back(table.watts(r) / forecast.watts(r));
  }
  if (ratios.empty()) return {};
  const double ratio = median(std::move(ratios));
  if (ratio < kOtherUnit && ratio > 1 / kOtherUnit) return {};
  return Error{"bad-samples", fmt::format("the measured power is {} times the forecast", significant(ratio, 3)), source,
               "watts, and samples of a machine like the model's"};
}

std::string series_csv(const measure::PowerTable& table, const measure::PowerForecast& forecast) {
  std::string text =
      csv_line({"machine", "workload", "run", "time_s", "forecast_watts", "lower_watts", "upper_watts", "watts"});
  for (Eigen::Index r = 0; r < forecast.watts.size(); ++r) {
    const auto row = static_cast<size_t>(r);
    text += csv_line({table.machines[static_cast<size_t>(table.machine[row])],
                      table.workloads[static_cast<size_t>(table.workload[row])], std::to_string(table.run[row] + 1),
                      std::isnan(table.time_s(r)) ? "" : fmt::format("{:.3f}", table.time_s(r)),
                      csv_number(forecast.watts(r)), csv_number(forecast.lower(r)), csv_number(forecast.upper(r)),
                      csv_number(table.watts(r))});
  }
  return text;
}

std::string watts_text(double watts) { return std::isnan(watts) ? "-" : fmt::format("{} W", significant(watts, 4)); }

// As JSON has them.
ReportTable phase_table(const std::vector<PhaseRow>& rows) {
  using Q = Quantity;
  using Row = PhaseRow;
  return table_of<Row>(
      "", rows,
      {{"machine", "machine", Q::kText, &Row::machine},
       {"workload", "workload", Q::kText, &Row::workload},
       {"run", "run", Q::kCount, &Row::run},
       {"", "phase", Q::kCount, &Row::phase},
       {"samples", "samples", Q::kCount, &Row::samples},
       {"forecast_watts", "power", Q::kNumber, &Row::watts, [](const Row& row) { return watts_text(row.watts); }},
       {"", "interval", Q::kNumber,
        [](const Row& row) { return fmt::format("{} .. {}", significant(row.lower, 4), significant(row.upper, 4)); }},
       {"lower_watts", "", Q::kNumber, &Row::lower},
       {"upper_watts", "", Q::kNumber, &Row::upper},
       {"from_s", "", Q::kDuration, &Row::from_s},
       {"duration_s", "duration", Q::kDuration, &Row::duration_s},
       {"energy_joules", "energy", Q::kJoules, &Row::energy_joules},
       {"measured_watts", "measured", Q::kNumber, &Row::measured,
        [](const Row& row) { return watts_text(row.measured); }}});
}

std::string forecast_text(const std::vector<PhaseRow>& rows, bool has_measured) {
  std::vector<std::string_view> names;
  if (std::ranges::any_of(rows, [](const PhaseRow& row) { return !row.machine.empty(); })) names.push_back("machine");
  if (std::ranges::any_of(rows, [](const PhaseRow& row) { return !row.workload.empty(); })) names.push_back("workload");
  names.insert(names.end(), {"run", "phase", "samples", "duration_s", "forecast_watts", "interval", "energy_joules"});
  if (has_measured) names.push_back("measured_watts");
  ReportTable table = picked(phase_table(rows), names);
  table.shows_unknown = true;
  return rows_text(table);
}

// All samples together. The interval of a phase is that of one new workload; of several it is that of their mean at
// the most.
std::string whole_text(const std::vector<PhaseRow>& rows, double coverage) {
  double samples = 0, watts = 0, lower = 0, upper = 0, energy_joules = 0, duration_s = 0;
  for (const PhaseRow& row : rows) {
    const auto count = static_cast<double>(row.samples);
    samples += count;
    watts += count * row.watts;
    lower += count * row.lower;
    upper += count * row.upper;
    energy_joules += row.energy_joules;
    duration_s += row.duration_s;
  }
  if (samples == 0) return "";
  std::string text = fmt::format("mean power: {} ({:.0f}% interval {} .. {} W)", watts_text(watts / samples),
                                 100 * coverage, significant(lower / samples, 4), significant(upper / samples, 4));
  if (std::isfinite(energy_joules)) {
    text += fmt::format("; energy: {} in {}", joules_in_words(energy_joules), human_seconds(duration_s));
  }
  return text + "\n";
}

int run_forecast(const PowerArguments& arguments, const CommonOptions& options) {
  for (const Status& status :
       {check_named_file("--power-model", arguments.model), check_output_file("--series", arguments.series),
        check_not_read("--series", arguments.series, {arguments.samples, arguments.model}),
        check_not_read("-o", options.output, {arguments.samples, arguments.model})}) {
    if (!status) return report_error(status.error(), options);
  }
  const auto model = read_power_model(arguments.model);
  if (!model) return report_error(model.error(), options);
  measure::PowerTableNotes notes;
  const auto table = read_samples(arguments, false, notes);
  if (!table) return report_error(table.error(), options);
  for (std::string& line : measure::unseen_settings(*model, *table)) notes.lines.push_back(std::move(line));
  print_notes(notes, options);
  const auto forecast = model->forecast(*table);
  if (!forecast) {
    Error error = forecast.error();
    if (error.where.empty()) error.where = arguments.samples;
    return report_error(error, options);
  }
  if (const auto held = std::count(forecast->is_held.begin(), forecast->is_held.end(), true); held > 0) {
    measure::PowerTableNotes beyond;
    beyond.lines.push_back(
        fmt::format("{} of {} samples {} outside the range that the model was fitted to; perfcast takes the power at "
                    "the edge of that range",
                    held, forecast->is_held.size(), held == 1 ? "lies" : "lie"));
    print_notes(beyond, options);
  }
  if (Status unit = check_unit(*table, *forecast, arguments.samples); !unit) return report_error(unit.error(), options);
  if (!arguments.series.empty()) {
    if (Status written = write_file_atomically(arguments.series, series_csv(*table, *forecast)); !written) {
      return report_error(written.error(), options);
    }
  }
  const std::vector<PhaseRow> rows = phase_rows(*table, *forecast);
  const bool has_measured = !table->watts.array().isNaN().all();
  double error = 0, known = 0;
  for (Eigen::Index r = 0; r < table->watts.size(); ++r) {
    if (std::isnan(table->watts(r))) continue;
    error += std::abs(forecast->watts(r) / table->watts(r) - 1);
    ++known;
  }
  if (options.json) {
    Json result = {{"schema", kForecastSchema}, {"model", arguments.model}, {"coverage_ratio", model->coverage()}};
    if (known > 0) result["error_ratio"] = error / known;
    result["phases"] = rows_json(phase_table(rows));
    return write_result(to_text(result), options);
  }
  std::string said = whole_text(rows, model->coverage());
  if (known > 0) said += fmt::format("error over {:.0f} measured samples: {}\n", known, percent(error / known));
  return write_result(said + "\n" + forecast_text(rows, has_measured), options);
}

void add_samples_options(CLI::App& verb, PowerArguments& arguments) {
  add_basic(verb, "--samples", arguments.samples, "FILE",
            "Samples as CSV with the columns time_s, watts, machine, workload, and one for each counter.")
      ->required();
  add_basic(verb, "--counts", arguments.counts,
            "Says that the counters are counts since the row before. Default: events per second.");
  add_advanced(verb, "--ignore", arguments.ignored, "COLUMN,...", "Leaves out these columns, such as A,B.")
      ->delimiter(',');
}

}  // namespace

void add_power_command(CLI::App& app, CommandContext& context) {
  CLI::App* power = add_verb(app, {"power",
                                   "Learns a machine's power from counters, and forecasts it.",
                                   "",
                                   {"perfcast power fit --samples samples.csv -o model.json",
                                    "perfcast power forecast --power-model model.json --samples new.csv"},
                                   "power"});
  power->require_subcommand(1);
  auto fit_arguments = std::make_shared<PowerArguments>();
  CLI::App* fit = add_verb(*power, {"fit",
                                    "Fits a model to samples of power and counters. It keeps the kind of model that "
                                    "forecasts left-out workloads best.",
                                    "",
                                    {"perfcast power fit --samples samples.csv -o model.json",
                                     "perfcast power fit --samples samples.csv --new-machine node7 -o model.json"},
                                    "power"});
  add_samples_options(*fit, *fit_arguments);
  add_basic(*fit, "--new-machine", fit_arguments->new_machine, "NAME",
            "Fits the model for this machine, from its few samples with power and from the samples of other machines.");
  fit->footer(
      "perfcast writes the model to -o FILE as JSON (perfcast.power-model/1), and prints how good it is. The samples "
      "may also have the columns frequency_mhz, voltage_v, temperature_c, cores and run.");
  add_common_options(*fit, context, kQuietOption | kSeedOption);
  fit->callback([fit_arguments, &context] {
    context.run = [fit_arguments, &context] { return run_fit(*fit_arguments, context.options); };
  });
  auto forecast_arguments = std::make_shared<PowerArguments>();
  CLI::App* forecast =
      add_verb(*power, {"forecast",
                        "Forecasts the power of samples with a model of power fit, phase by phase, with intervals.",
                        "",
                        {"perfcast power forecast --power-model model.json --samples new.csv",
                         "perfcast power forecast --power-model model.json --samples new.csv --series watts.csv"},
                        "power"});
  add_basic(*forecast, "--power-model,--model", forecast_arguments->model, "FILE",
            "The model, as perfcast power fit -o FILE wrote it.")
      ->required();
  add_samples_options(*forecast, *forecast_arguments);
  add_basic(*forecast, "--series", forecast_arguments->series, "FILE",
            "Writes the forecast of every sample into this CSV file.");
  forecast->footer("If the samples have watts, perfcast compares the forecast with them.");
  add_common_options(*forecast, context, kQuietOption);
  forecast->callback([forecast_arguments, &context] {
    context.run = [forecast_arguments, &context] { return run_forecast(*forecast_arguments, context.options); };
  });
}

}  // namespace perfcast::cli
