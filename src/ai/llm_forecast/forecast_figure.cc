#include "ai/llm_forecast/forecast_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/figure/page.h"
#include "base/figure/svg_axes.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kLeft = 78, kRight = kFigureWidth - 60, kTop = 62, kHeight = 440, kLegendLine = 19;
constexpr size_t kMostSeries = 16;  // colours repeat from the ninth; the first four shapes can be filled

struct Series {
  uint32_t device;
  int64_t tensor_parallel;
  std::vector<ForecastRow> rows;  // by batch
};

std::string seconds_tick(double milliseconds) { return human_number(milliseconds); }
std::string rate_tick(double value) { return human_number(value); }

std::vector<Series> series_of(const LlmForecastReport& report, int64_t sequence) {
  std::vector<Series> all;
  for (const ForecastRow& row : report.result.rows) {
    if (row.sequence != sequence || (row.memory_known && !row.fits)) continue;
    auto found = std::find_if(all.begin(), all.end(), [&](const Series& series) {
      return series.device == row.device && series.tensor_parallel == row.tensor_parallel;
    });
    if (found == all.end()) found = all.insert(all.end(), {row.device, row.tensor_parallel, {}});
    found->rows.push_back(row);
  }
  for (Series& series : all) {
    std::sort(series.rows.begin(), series.rows.end(),
              [](const ForecastRow& a, const ForecastRow& b) { return a.batch < b.batch; });
  }
  return all;
}

std::string name_of_series(const LlmForecastReport& report, const Series& series) {
  const std::string name = report.devices[series.device].model->device().name;
  std::string text = series.tensor_parallel > 1 ? fmt::format("{} x {}", series.tensor_parallel, name) : name;
  if (!series.rows.front().calibrated) text += " (uncalibrated)";
  return text;
}

}  // namespace

Result<std::string> pareto_svg(const LlmForecastReport& report) {
  const int64_t sequence = *std::min_element(report.grid.sequences.begin(), report.grid.sequences.end());
  std::vector<Series> all = series_of(report, sequence);
  if (all.empty()) {
    return Error{"nothing-to-draw", "no configuration fits its device's memory", "",
                 "smaller batches, more devices (--tensor-parallel) or narrower weights"};
  }
  const size_t left_out = all.size() > kMostSeries ? all.size() - kMostSeries : 0;
  all.resize(std::min(all.size(), kMostSeries));
  std::vector<ForecastRow> rows;
  for (const Series& series : all) rows.insert(rows.end(), series.rows.begin(), series.rows.end());
  const std::vector<bool> best = pareto_rows(rows);
  double low_x = HUGE_VAL, high_x = 0, low_y = HUGE_VAL, high_y = 0;
  for (const ForecastRow& row : rows) {
    low_x = std::min(low_x, row.latency_s() * 1e3);
    high_x = std::max(high_x, row.latency_s() * 1e3);
    low_y = std::min(low_y, row.tokens_per_s);
    high_y = std::max(high_y, row.tokens_per_s);
  }
  const auto missing = std::count_if(report.result.rows.begin(), report.result.rows.end(), [&](const ForecastRow& row) {
    return row.sequence == sequence && row.memory_known && !row.fits;
  });
  const bool generates = rows.front().generates;
  const double bottom = kTop + kHeight;
  const Scale x = Scale::logarithmic(low_x / 1.15, high_x * 1.15, kLeft, kRight);
  const Scale y = Scale::logarithmic(low_y / 1.25, high_y * 1.25, bottom, kTop);
  const double height = bottom + 62 + kLegendLine * static_cast<double>(all.size() + 1);
  const std::string title =
      fmt::format("{}: throughput and latency, {} {}", report.config.name, generates ? "prompt" : "tokens", sequence);
  SvgCanvas canvas("pareto", kFigureWidth, height, title,
                   "Tokens per second over the time per token, a line for each device over its batch sizes");
  canvas.text(kLeft, 24, title, "panel");
  canvas.text(kLeft, 43,
              fmt::format("numbers at the marks are batch sizes; filled: no other configuration is both faster and "
                          "gives more{}{}",
                          missing > 0 ? fmt::format("; {} that do not fit are left out", missing) : "",
                          left_out > 0 ? fmt::format("; {} lines more are not drawn", left_out) : ""),
              "tick");
  draw_x_axis(canvas, x, kTop, bottom, generates ? "time per output token, ms" : "time of the batch, ms", seconds_tick);
  draw_y_axis(canvas, y, kLeft, kRight, "tokens/s", rate_tick);
  size_t at = 0;
  for (size_t s = 0; s < all.size(); ++s) {
    const std::string look = series_class(s);
    const std::string name = name_of_series(report, all[s]);
    std::vector<std::pair<double, double>> points;
    for (const ForecastRow& row : all[s].rows) points.emplace_back(x.at(row.latency_s() * 1e3), y.at(row.tokens_per_s));
    canvas.polyline(points, look + " stroke curve");
    for (size_t i = 0; i < points.size(); ++i, ++at) {
      const ForecastRow& row = all[s].rows[i];
      canvas.marker(series_marker(s % 4), points[i].first, points[i].second, 4.5,
                    look + (best[at] ? " fill" : " hollow"),
                    fmt::format("{}, batch {}: {} a token, {} tokens/s ({} to {})", name, row.batch,
                                human_seconds(row.latency_s()), human_number(row.tokens_per_s), human_number(row.lower),
                                human_number(row.upper)));
      if (i == 0 || i + 1 == points.size()) {
        canvas.text(points[i].first + 8, points[i].second + (i == 0 ? 14 : -6), std::to_string(row.batch), "row");
      }
    }
    const double line = bottom + 62 + kLegendLine * static_cast<double>(s);
    canvas.line(kLeft - 3, line, kLeft + 27, line, look + " stroke curve");
    draw_legend(
        canvas, kLeft, kRight, line,
        {{LegendEntry::Kind::kMarker, series_marker(s % 4), look + " hollow", fitted(name, kRight - kLeft - 60, 12)}});
  }
  return standalone_svg(canvas.to_svg());
}

}  // namespace perfcast::ai
