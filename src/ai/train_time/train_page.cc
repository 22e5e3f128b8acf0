#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ai/train_time/train_report.h"
#include "base/csv.h"
#include "base/figure/page.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kPictureLeft = 90, kPictureRight = 780, kPictureTop = 40, kPictureBottom = 470, kPictureHeight = 530;
constexpr size_t kMostDrawn = 2000;  // evaluations of a curve: beyond, every so many-th

std::string axis_number(double value) { return fmt::format("{:.4g}", value); }
std::string axis_seconds(double value) { return training_time_text(value); }

std::string curves_csv(const TrainReport& report) {
  std::string csv = csv_line({"system", "seed", "time_s", report.metric});
  for (const TrainCurve& curve : report.curves) {
    for (const MetricReading& reading : curve.readings)
      csv +=
          csv_line({curve.system, std::to_string(curve.seed), csv_number(reading.time_s), csv_number(reading.value)});
  }
  return csv;
}

std::string curves_picture(const TrainReport& report) {
  const TrainComparison& comparison = report.comparison;
  double last_s = 0, low = comparison.request.threshold, high = comparison.request.threshold;
  for (const TrainCurve& curve : report.curves) {
    for (const MetricReading& reading : curve.readings) {
      last_s = std::max(last_s, reading.time_s);
      if (!std::isfinite(reading.value)) continue;
      low = std::min(low, reading.value);
      high = std::max(high, reading.value);
    }
  }
  const std::string title = fmt::format("{} over time", report.metric);
  SvgCanvas canvas("curves", kFigureWidth, kPictureHeight, title, "One line for each seed of each system");
  const double margin = 0.03 * (high - low);
  const Scale x = Scale::linear(0, last_s, kPictureLeft, kPictureRight);
  const Scale y = Scale::linear(low - margin, high + margin, kPictureBottom, kPictureTop);
  canvas.text(kPictureLeft, 22, title, "panel");
  draw_x_axis(canvas, x, kPictureTop, kPictureBottom, "time", axis_seconds);
  draw_y_axis(canvas, y, kPictureLeft, kPictureRight, report.metric, axis_number);
  const double threshold = y.at(comparison.request.threshold);
  canvas.line(kPictureLeft, threshold, kPictureRight, threshold, "rule");
  canvas.text(kPictureLeft + 4, threshold - 4, fmt::format("{:g}", comparison.request.threshold), "tick");
  double legend = kPictureTop + 8;
  for (size_t s = 0; s < comparison.systems.size(); ++s) {
    const SystemTime& system = comparison.systems[s];
    const std::string look = series_class(s);
    for (const TrainCurve& curve : report.curves) {
      if (curve.system != system.name) continue;
      std::vector<std::pair<double, double>> line;
      const size_t stride = 1 + curve.readings.size() / kMostDrawn;
      for (size_t i = 0; i < curve.readings.size(); i += stride) {
        const MetricReading& reading = curve.readings[i];
        if (std::isfinite(reading.value)) line.emplace_back(x.at(reading.time_s), y.at(reading.value));
      }
      if (line.size() > 1) canvas.polyline(line, look + " stroke");
      const auto time_s = time_to_threshold(curve.readings, comparison.request.threshold, comparison.request.rule);
      if (time_s) {
        canvas.marker(series_marker(s), x.at(*time_s), threshold, 4.5, look + " hollow",
                      fmt::format("{}, seed {}: {}", system.name, curve.seed, training_time_text(*time_s)));
      }
    }
    canvas.marker(series_marker(s), kPictureRight + 24, legend, 4.5, look + " hollow");
    const std::string score = system.score.mean_s ? training_time_text(*system.score.mean_s) : std::string("no score");
    canvas.text(kPictureRight + 36, legend + 4, fitted(system.name + ", " + score, 175, 12), "series", "start",
                system.name);
    legend += 20;
  }
  return canvas.to_svg();
}

}  // namespace

std::string train_report_page(const TrainReport& report) {
  const TrainComparison& comparison = report.comparison;
  Page page;
  page.title = "Time to " + report.metric;
  page.lead = fmt::format("{} {} {:g}; {}.", report.metric,
                          comparison.request.rule.lower_is_better ? "<=" : ">=", comparison.request.threshold,
                          rule_in_words(comparison.request.rule));
  Figure figure;
  figure.id = "curves";
  figure.title = "Metric against time";
  figure.caption = "One line for each seed. A mark on the dashed line is where a seed meets the rule.";
  figure.images.push_back(curves_picture(report));
  figure.csv = curves_csv(report);
  page.figures.push_back(std::move(figure));
  page.figures_first = true;
  page.sections.push_back({"results", "Results", preformatted_html(train_report_text(report))});
  return html_page(page);
}

}  // namespace perfcast::ai
