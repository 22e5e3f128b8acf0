// Makespan and completion time as the forecasts get worse.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "fleet/report/schedule_figure.h"

namespace perfcast::fleet {
namespace {

constexpr double kTop = 40, kHeight = 330, kPanel = 405, kLegendLine = 19;

void draw_sweep(SvgCanvas& canvas, const ErrorSweep& sweep, const std::vector<SweepLine>& lines, SweepMetric metric,
                double left) {
  const double bottom = kTop + kHeight, right = left + kPanel;
  double least = kUnknown, most = kUnknown, most_error = 0;
  for (const SweepLine& line : lines) {
    for (const double value : values_of(line, metric)) {
      least = std::fmin(least, value);
      most = std::fmax(most, value);
    }
    for (const double error : line.error_ratio) most_error = std::max(most_error, error);
  }
  if (!std::isfinite(least) || !std::isfinite(most)) return;
  const TimeUnit unit = time_unit(most);
  const double room = std::max(0.05 * (most - least), 0.01 * most) / unit.seconds;
  const Scale x = Scale::linear(0, most_error, left, right);
  const Scale y = Scale::linear(std::max(0.0, least / unit.seconds - room), most / unit.seconds + room, bottom, kTop);
  const char* name = metric == SweepMetric::kMakespan ? "makespan" : "mean completion time";
  canvas.text(left, kTop - 14, name, "panel");
  draw_x_axis(canvas, x, kTop, bottom, "error of the forecasts", whole_percent_text);
  draw_y_axis(canvas, y, left, right, fmt::format("{} ({})", name, unit.name), ratio_text);
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::pair<double, double>> points;
    for (size_t k = 0; k < lines[i].error_ratio.size(); ++k) {
      const double value = values_of(lines[i], metric)[k];
      if (std::isfinite(value)) points.emplace_back(x.at(lines[i].error_ratio[k]), y.at(value / unit.seconds));
    }
    if (points.empty()) continue;
    // What knows no forecast is level: from edge to edge, also where it was run once.
    const bool knows = lines[i].kind == SweepLine::Kind::kForecast;
    if (!knows && points.size() == 1) points = {{left, points[0].second}, {right, points[0].second}};
    canvas.polyline(points, series_class(i) + (knows ? " stroke curve" : " stroke curve level"));
    if (!knows) continue;
    for (const auto& [px, py] : points) canvas.marker(series_marker(i), px, py, 3, series_class(i) + " hollow");
  }
  for (const BreakEven& even : break_evens(sweep, metric)) {
    if (even.verdict != BreakEven::Verdict::kCrosses) continue;
    const auto baseline = std::ranges::find(lines, even.baseline, &SweepLine::policy);
    const auto line = std::ranges::find(lines, even.policy, &SweepLine::policy);
    const auto next = std::ranges::lower_bound(line->error_ratio, even.error_ratio);
    const auto k = std::min(static_cast<size_t>(next - line->error_ratio.begin()), line->error_ratio.size() - 1);
    const std::vector<double>& values = values_of(*line, metric);
    double value = values[k];
    if (k > 0 && line->error_ratio[k] > even.error_ratio) {
      const double share =
          (even.error_ratio - line->error_ratio[k - 1]) / (line->error_ratio[k] - line->error_ratio[k - 1]);
      value = values[k - 1] + share * (values[k] - values[k - 1]);
    }
    const std::string text = fmt::format("{} is no better than {} from {:.0f}% error on", even.policy, baseline->policy,
                                         100 * even.error_ratio);
    canvas.line(x.at(even.error_ratio), y.at(value / unit.seconds), x.at(even.error_ratio), bottom, "rule");
    canvas.marker(Marker::kCircle, x.at(even.error_ratio), y.at(value / unit.seconds), 6.5,
                  series_class(static_cast<size_t>(line - lines.begin())) + " ring", text);
  }
}

}  // namespace

Figure error_sweep_figure(const ErrorSweep& sweep) {
  Figure figure{"error", "How good must a forecast be to pay?", "", {}, ""};
  const std::vector<SweepLine> lines = sweep_lines(sweep);
  if (lines.empty()) {
    figure.caption = "The policies were not run with worse forecasts.";
    return figure;
  }
  figure.csv = csv_line({"policy", "error_ratio", "makespan_s", "mean_completion_s"});
  std::vector<LegendEntry> legend;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool knows = lines[i].kind == SweepLine::Kind::kForecast;
    legend.push_back({knows ? LegendEntry::Kind::kMarker : LegendEntry::Kind::kLine, series_marker(i),
                      series_class(i) + (knows ? " hollow" : " curve level"),
                      lines[i].policy + (knows                                       ? ""
                                         : lines[i].kind == SweepLine::Kind::kOracle ? " (true times)"
                                                                                     : " (no forecast)")});
    for (size_t k = 0; k < lines[i].error_ratio.size(); ++k) {
      figure.csv += csv_line({lines[i].policy, csv_number(lines[i].error_ratio[k]), csv_number(lines[i].makespan_s[k]),
                              csv_number(lines[i].mean_completion_s[k])});
    }
  }
  const double below = kTop + kHeight + 58;
  SvgCanvas measure("fig-error-measure", kFigureWidth, 30, "", "");
  const double height = draw_legend(measure, 70, kFigureWidth - 16, below, legend);
  SvgCanvas canvas("fig-" + figure.id, kFigureWidth, height - kLegendLine + 14, figure.title,
                   "Makespan and mean completion time by the error of the forecasts, one line for each policy");
  draw_legend(canvas, 70, kFigureWidth - 16, below, legend);
  draw_sweep(canvas, sweep, lines, SweepMetric::kMakespan, 70);
  draw_sweep(canvas, sweep, lines, SweepMetric::kMeanCompletion, 70 + kPanel + 90);
  figure.images.push_back(canvas.to_svg());
  figure.caption =
      "Medians over the seeds. Thin lines know no forecast, so its error doesn't move them; rings mark where a policy "
      "stops to be better than the best of those. The vertical axes do not begin at 0.";
  for (const SweepMetric metric : {SweepMetric::kMakespan, SweepMetric::kMeanCompletion}) {
    std::string crossing;
    for (const BreakEven& even : break_evens(sweep, metric)) {
      if (even.verdict != BreakEven::Verdict::kCrosses) continue;
      crossing += fmt::format("{}{} from {:.0f}%", crossing.empty() ? "" : ", ", even.policy, 100 * even.error_ratio);
    }
    if (crossing.empty()) continue;
    figure.caption += fmt::format(" No longer better by {}: {}.",
                                  metric == SweepMetric::kMakespan ? "makespan" : "mean completion", crossing);
  }
  return figure;
}

}  // namespace perfcast::fleet
