// Figure 3 of the paper: one program's relative times, measured and forecast; the best and the worst beside it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/figure/svg_axes.h"
#include "program/evaluate/report/report_figure.h"

namespace perfcast::program {
namespace {

struct Sample {
  int64_t row = 0;
  double mape = 0;
  std::map<int64_t, Entry> by_column;
};

// Best first; samples of equal error keep the order of the table.
std::vector<Sample> samples_of(const ScoreInput& input) {
  std::vector<Sample> samples;
  for (const Entry& entry : entries_of(input)) {
    if (samples.empty() || samples.back().row != entry.row) samples.push_back({entry.row, 0, {}});
    samples.back().mape += error_of(entry);
    samples.back().by_column[entry.column] = entry;
  }
  for (Sample& sample : samples) sample.mape /= static_cast<double>(sample.by_column.size());
  std::stable_sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.mape < b.mape; });
  return samples;
}

struct Panel {
  const Sample* sample;
  std::string title;
};

// Rows of all panels: as the first panel's program has them, fastest first, then platforms it was not measured on.
std::vector<int64_t> columns_of(const std::vector<Panel>& panels) {
  std::vector<std::pair<double, int64_t>> sorted;
  std::vector<int64_t> columns;
  sorted.reserve(panels.front().sample->by_column.size());
  for (const auto& [column, entry] : panels.front().sample->by_column) sorted.emplace_back(entry.measured, column);
  std::sort(sorted.begin(), sorted.end());
  columns.reserve(sorted.size());
  for (const auto& [measured, column] : sorted) columns.push_back(column);
  for (const Panel& panel : panels) {
    for (const auto& [column, entry] : panel.sample->by_column) {
      if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
    }
  }
  return columns;
}

std::string spoken(const std::string& platform, const Entry& entry) {
  std::string text =
      fmt::format("{}: measured {}, forecast {}", platform, ratio_text(entry.measured), ratio_text(entry.forecast));
  if (entry.lower) text += fmt::format(" ({} to {})", ratio_text(*entry.lower), ratio_text(*entry.upper));
  return text;
}

std::pair<double, double> range_of(const std::vector<Panel>& panels) {
  double least = 1, most = 1;
  for (const Panel& panel : panels) {
    for (const auto& [column, entry] : panel.sample->by_column) {
      least = std::min({least, entry.measured, entry.forecast});
      most = std::max({most, entry.measured, entry.forecast});
      if (entry.lower && *entry.lower > 0) least = std::min(least, *entry.lower);
      if (entry.upper && std::isfinite(*entry.upper)) most = std::max(most, *entry.upper);
    }
  }
  return {least / 1.05, most * 1.05};
}

}  // namespace

Figure program_figure(const Evaluation& evaluation, const std::string& program) {
  Figure figure{"program", "One program on every platform: measured and forecast", "", {}, ""};
  const SeedForecasts& data = evaluation.first_seed;
  const SeedForecasts::Model* model = shown_model(evaluation);
  figure.csv = csv_line(
      {"shown_as", "program", "platform", "model", "measured_ratio", "forecast_ratio", "lower_ratio", "upper_ratio"});
  const std::vector<Sample> samples = model == nullptr ? std::vector<Sample>() : samples_of(model->entries);
  if (samples.empty()) {
    figure.caption = "No entry was both measured and forecast.";
    return figure;
  }
  std::vector<Panel> panels;
  std::vector<const Sample*> of_program;  // several where each of its profiles is a sample; best first
  for (const Sample& sample : samples) {
    if (data.rows[static_cast<size_t>(sample.row)].program == program) of_program.push_back(&sample);
  }
  if (!program.empty() && !of_program.empty()) {
    panels.push_back({of_program[(of_program.size() - 1) / 2], of_program.size() > 1 ? "chosen, median" : "chosen"});
  }
  std::string note;
  if (!program.empty() && panels.empty())
    note = " " + program + " is in no fold that was tested; shown instead is the program of median error.";
  if (panels.empty()) panels.push_back({&samples[(samples.size() - 1) / 2], "median error"});
  panels.push_back({&samples.front(), "best"});
  panels.push_back({&samples.back(), "worst"});

  const std::vector<int64_t> columns = columns_of(panels);
  double label_width = 0;
  for (const int64_t column : columns) {
    label_width = std::max(label_width, text_width(label_of(data.platform_names[static_cast<size_t>(column)]), 10.5));
  }
  const double row_height = columns.size() <= 12 ? 30 : columns.size() <= 40 ? 20 : 15;
  const double left = std::min(label_width + 14, 260.0), top = 92, gap = 24;
  const double bottom = top + row_height * static_cast<double>(columns.size());
  const double width = (kFigureWidth - 16 - left - 2 * gap) / 3;
  SvgCanvas canvas(
      "fig-" + figure.id, kFigureWidth, bottom + 44, figure.title,
      "Dot plots with 90% intervals of three programs: one of median error or chosen, the best, the worst");
  std::vector<LegendEntry> legend = {
      {LegendEntry::Kind::kMarker, Marker::kCircle, "s0 fill", "measured"},
      {LegendEntry::Kind::kMarker, Marker::kDiamond, "s1 hollow", "forecast by " + model->name}};
  const bool intervals = has_intervals(model->entries);
  if (intervals) legend.push_back({LegendEntry::Kind::kLine, {}, "s1 thick", "90% interval"});
  draw_legend(canvas, left, kFigureWidth, 14, legend);
  for (size_t i = 1; i < columns.size(); i += 2) {
    canvas.rectangle(0, top + row_height * static_cast<double>(i), kFigureWidth - 16, row_height, "band");
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string& name = data.platform_names[static_cast<size_t>(columns[i])];
    canvas.text(left - 8, top + row_height * (static_cast<double>(i) + 0.5) + 4,
                fitted(label_of(name), left - 10, 10.5), "row", "end", name);
  }
  const auto [least, most] = range_of(panels);
  for (size_t p = 0; p < panels.size(); ++p) {
    const Sample& sample = *panels[p].sample;
    const double from = left + static_cast<double>(p) * (width + gap);
    const Scale x = Scale::logarithmic(least, most, from, from + width);
    draw_x_axis(canvas, x, top, bottom,
                p == 1 ? "time relative to " + label_of(reference_text(evaluation)) + " (ratio, log scale)" : "",
                ratio_text, true);
    canvas.line(x.at(1), top, x.at(1), bottom, "rule");
    const std::string& name = data.rows[static_cast<size_t>(sample.row)].program;
    canvas.text(from, 48, fitted(name, width, kBoldPx), "panel", "start", name);
    canvas.text(from, 64, fmt::format("{}: mean error {}", panels[p].title, percent_text(sample.mape)), "legend");
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto found = sample.by_column.find(columns[i]);
      if (found == sample.by_column.end()) continue;
      const Entry& entry = found->second;
      const std::string tooltip = spoken(data.platform_names[static_cast<size_t>(columns[i])], entry);
      const double y = top + row_height * (static_cast<double>(i) + 0.5), size = row_height > 16 ? 4 : 3;
      if (entry.lower) canvas.line(x.at(*entry.lower), y, x.at(*entry.upper), y, "s1 stroke thick");
      canvas.marker(Marker::kDiamond, x.at(entry.forecast), y, size, "s1 hollow", tooltip);
      canvas.marker(Marker::kCircle, x.at(entry.measured), y, size * 0.9, "s0 fill", tooltip);
      figure.csv +=
          csv_line({panels[p].title, name, evaluation.platforms[static_cast<size_t>(columns[i])], model->name,
                    csv_number(entry.measured), csv_number(entry.forecast), entry.lower ? csv_number(*entry.lower) : "",
                    entry.upper ? csv_number(*entry.upper) : ""});
    }
  }
  figure.images.push_back(canvas.to_svg());
  figure.caption = fmt::format(
      "The program {}, and those that {} forecasts best and worst, of {} samples. Platforms in the order that the "
      "first "
      "was measured in. {}{}",
      panels.front().title == "chosen" ? "that was asked for" : "of median error", model->name, samples.size(),
      intervals ? "A dot outside its bar is a miss: one in ten should be."
                : "There are no intervals: the evaluation ran with --no-intervals.",
      note);
  return figure;
}

}  // namespace perfcast::program
