#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ai/results/results_report.h"
#include "base/csv.h"
#include "base/figure/page.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kPlotLeft = 90, kPlotRight = 720, kPlotTop = 40, kPlotBottom = 560, kPlotHeight = 620;
constexpr double kLeastRatio = 0.2, kMostRatio = 5;  // of the axis; what is beyond stands at its edge

std::string rate_tick(double value) { return human_number(value); }

// Forecast over measurement against the measured rate: errors of rates that differ by factors of a million can be
// seen on no diagonal.
std::string error_plot(const ResultsReport& report, const SplitScores& split, const std::string& id) {
  double low = 1e300, high = 0;
  std::vector<std::string> scenarios;
  for (const ScoredRow& row : split.rows) {
    low = std::min(low, std::exp(row.log_rate));
    high = std::max(high, std::exp(row.log_rate));
    const std::string& scenario = report.rows[row.row].scenario;
    if (std::find(scenarios.begin(), scenarios.end(), scenario) == scenarios.end()) scenarios.push_back(scenario);
  }
  std::sort(scenarios.begin(), scenarios.end());
  const std::string title = fmt::format("Left out: {}", name_of(split.split));
  SvgCanvas canvas(id, kFigureWidth, kPlotHeight, title,
                   "One mark for each result: forecast over measurement against the measured rate");
  const Scale x = Scale::logarithmic(low, high, kPlotLeft, kPlotRight);
  const Scale y = Scale::logarithmic(kLeastRatio, kMostRatio, kPlotBottom, kPlotTop);
  canvas.text(kPlotLeft, 22, title, "panel");
  draw_x_axis(canvas, x, kPlotTop, kPlotBottom, "measured, samples per second", rate_tick);
  draw_y_axis(canvas, y, kPlotLeft, kPlotRight, "forecast / measured", ratio_text);
  canvas.line(kPlotLeft, y.at(1), kPlotRight, y.at(1), "rule");
  for (const ScoredRow& row : split.rows) {
    const ResultRow& result = report.rows[row.row];
    const auto series =
        static_cast<size_t>(std::find(scenarios.begin(), scenarios.end(), result.scenario) - scenarios.begin());
    canvas.marker(
        series_marker(series), x.at(std::exp(row.log_rate)), y.at(std::exp(row.forecast - row.log_rate)), 3,
        series_class(series) + " hollow",
        fmt::format("{}, {}, {}, {}: measured {}, forecast {}", result.system, result.model, result.scenario,
                    result.version, human_number(std::exp(row.log_rate)), human_number(std::exp(row.forecast))));
  }
  double line = kPlotTop + 8;
  for (size_t s = 0; s < scenarios.size(); ++s) {
    canvas.marker(series_marker(s), kPlotRight + 24, line, 4.5, series_class(s) + " hollow");
    const auto score = std::find_if(split.scores.begin(), split.scores.end(),
                                    [&](const ResultScore& each) { return each.scenario == scenarios[s]; });
    canvas.text(kPlotRight + 36, line + 4, fmt::format("{}, {}", scenarios[s], percent_text(score->median_error)),
                "series");
    line += 20;
  }
  canvas.text(kPlotRight + 24, line + 6, "median error beside each name", "tick");
  return canvas.to_svg();
}

std::string rows_csv(const ResultsReport& report, const SplitScores& split) {
  std::string csv = csv_line({"system", "version", "model", "scenario", "measured_per_s", "forecast_per_s",
                              "lower_per_s", "upper_per_s", "scaled_by_peak_per_s"});
  for (const ScoredRow& row : split.rows) {
    const ResultRow& result = report.rows[row.row];
    csv += csv_line({result.system, result.version, result.model, result.scenario, csv_number(std::exp(row.log_rate)),
                     csv_number(std::exp(row.forecast)), csv_number(std::exp(row.lower)),
                     csv_number(std::exp(row.upper)), csv_number(std::exp(row.baseline))});
  }
  return csv;
}

}  // namespace

std::string results_report_page(const ResultsReport& report) {
  Page page;
  page.title = "Published results";
  page.lead = fmt::format("Forecasts of {} results of the division {}, each from those that were not left out with it.",
                          report.rows.size(), report.division);
  if (!report.scores) return html_page(page);
  for (const SplitScores& split : report.scores->splits) {
    const ResultScore& all = split.scores.front();
    Figure figure;
    figure.id = name_of(split.split);
    figure.title = "Left out: " + name_of(split.split);
    figure.caption = fmt::format(
        "Marks on the line are right; those at an edge are further off. Median error {}, where scaling by peak has a "
        "forecast {} against {}; 90% intervals hold {}. Noise floor {}.",
        percent_text(all.median_error), percent_text(all.median_error_there), percent_text(all.baseline_median_error),
        percent_text(all.coverage_90), percent_text(report.scores->noise_floor));
    figure.images.push_back(error_plot(report, split, "errors-" + name_of(split.split)));
    figure.csv = rows_csv(report, split);
    page.figures.push_back(std::move(figure));
  }
  page.facts_html = "<p>" + escape_html("Sources: " + join(report.sources, ", ")) + "</p>";
  return html_page(page);
}

}  // namespace perfcast::ai
