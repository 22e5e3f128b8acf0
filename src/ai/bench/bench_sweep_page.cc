#include <algorithm>
#include <cmath>
#include <utility>

#include "ai/bench/bench_sweep.h"
#include "base/csv.h"
#include "base/figure/page.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr double kLeft = 84, kRight = kFigureWidth - 190, kTop = 50, kBottom = 430, kHeight = 490;

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // load, seconds or per second
  size_t look = 0;                                // of the two percentiles of one time the same
  bool is_tail = false;
};

std::string seconds_tick(double seconds) { return human_seconds(seconds); }
std::string number_tick(double value) { return human_number(value); }

std::vector<Curve> latency_curves(const BenchSweep& sweep) {
  struct Times {
    const char* name;
    LatencySummary LoadSummary::*of;
  };
  std::vector<Curve> curves;
  size_t look = 0;
  for (const Times& times : {Times{"latency", &LoadSummary::latency}, Times{"first token", &LoadSummary::ttft},
                             Times{"per token", &LoadSummary::tpot}}) {
    for (const bool is_tail : {true, false}) {
      Curve curve{std::string(times.name) + (is_tail ? ", p99" : ", p50"), {}, look, is_tail};
      for (const SweepPoint& point : sweep.points) {
        const LatencySummary& summary = point.report.summary.*times.of;
        const int64_t time_ns = is_tail ? summary.p99 : summary.p50;
        if (summary.count > 0 && time_ns > 0)
          curve.points.emplace_back(point.load, static_cast<double>(time_ns) * 1e-9);
      }
      if (!curve.points.empty()) curves.push_back(std::move(curve));
    }
    ++look;
  }
  return curves;
}

std::vector<Curve> rate_curves(const BenchSweep& sweep) {
  Curve answers{"answers/s", {}, 0, false}, tokens{"tokens/s", {}, 1, false};
  for (const SweepPoint& point : sweep.points) {
    if (point.answers_per_s > 0) answers.points.emplace_back(point.load, point.answers_per_s);
    if (point.report.result.tokens > 0) tokens.points.emplace_back(point.load, point.report.summary.tokens_per_s);
  }
  std::vector<Curve> curves;
  for (Curve* curve : {&answers, &tokens}) {
    if (!curve->points.empty()) curves.push_back(std::move(*curve));
  }
  return curves;
}

std::string drawing(const BenchSweep& sweep, const std::vector<Curve>& curves, const std::string& id,
                    const std::string& title, const std::string& y_label, NumberText tick) {
  double low_x = HUGE_VAL, high_x = 0, low_y = HUGE_VAL, high_y = 0;
  for (const Curve& curve : curves) {
    for (const auto& [load, value] : curve.points) {
      low_x = std::min(low_x, load);
      high_x = std::max(high_x, load);
      low_y = std::min(low_y, value);
      high_y = std::max(high_y, value);
    }
  }
  const Scale x = Scale::logarithmic(low_x / 1.1, high_x * 1.1, kLeft, kRight);
  const Scale y = Scale::logarithmic(low_y / 1.3, high_y * 1.3, kBottom, kTop);
  SvgCanvas canvas(id, kFigureWidth, kHeight, title, title + " against load, a mark for each run");
  canvas.text(kLeft, 24, title, "panel");
  draw_x_axis(canvas, x, kTop, kBottom, sweep.by_rate ? "requests per second sent" : "clients at once", number_tick);
  draw_y_axis(canvas, y, kLeft, kRight, y_label, tick);
  if (sweep.saturated) {
    const double at = x.at(sweep.points[*sweep.saturated].load);
    canvas.line(at, kTop, at, kBottom, "rule");
    canvas.text(at - 6, kTop + 14, "saturated", "tick", "end");
  }
  std::vector<double> heights;
  std::vector<size_t> order(curves.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return y.at(curves[a].points.back().second) < y.at(curves[b].points.back().second);
  });
  for (const size_t i : order) heights.push_back(y.at(curves[i].points.back().second));
  const std::vector<double> labels = spread_labels(heights, kTop, kBottom, 17);
  for (size_t place = 0; place < order.size(); ++place) {
    const Curve& curve = curves[order[place]];
    const std::string look = series_class(curve.look);
    std::vector<std::pair<double, double>> pixels;
    for (const auto& [load, value] : curve.points) pixels.emplace_back(x.at(load), y.at(value));
    canvas.polyline(pixels, look + (curve.is_tail ? " stroke thin" : " stroke curve"));
    for (size_t i = 0; i < pixels.size(); ++i) {
      canvas.marker(series_marker(curve.look), pixels[i].first, pixels[i].second, 4,
                    look + (curve.is_tail ? " hollow" : " fill"),
                    curve.name + " at " + sweep.load_text(curve.points[i].first) + ": " + tick(curve.points[i].second));
    }
    canvas.text(kRight + 12, labels[place] + 4, curve.name, "series");
  }
  return canvas.to_svg();
}

std::string points_csv(const BenchSweep& sweep) {
  std::string csv = csv_line({"load", "answers_per_s", "tokens_per_s", "ttft_p50_ns", "ttft_p99_ns", "tpot_p50_ns",
                              "tpot_p99_ns", "latency_p50_ns", "latency_p99_ns"});
  for (const SweepPoint& point : sweep.points) {
    const LoadSummary& summary = point.report.summary;
    std::vector<std::string> cells = {csv_number(point.load), csv_number(point.answers_per_s),
                                      point.report.result.tokens > 0 ? csv_number(summary.tokens_per_s) : ""};
    for (const LatencySummary* times : {&summary.ttft, &summary.tpot, &summary.latency}) {
      cells.push_back(times->count > 0 ? std::to_string(times->p50) : "");
      cells.push_back(times->count > 0 ? std::to_string(times->p99) : "");
    }
    csv += csv_line(cells);
  }
  return csv;
}

}  // namespace

std::string sweep_page(const BenchSweep& sweep) {
  Page page;
  const std::string system = sweep.points.empty() ? "" : printable(sweep.points.front().report.result.system);
  page.title = "Latency against load";
  page.lead = sweep_verdict(sweep) + ".";
  page.facts_html = "<dl><dt>system</dt><dd>" + escape_html(system) + "</dd></dl>";
  page.figures_first = true;
  const std::vector<Curve> latencies = latency_curves(sweep), rates = rate_curves(sweep);
  Figure latency{"latency",
                 "Latency",
                 "Lower is better. Thick lines with filled marks are medians, thin ones the 99th percentile. Both axes "
                 "are logarithmic.",
                 {},
                 points_csv(sweep)};
  Figure rate{"throughput", "Throughput", "Where it no longer rises, the system is saturated.", {}, points_csv(sweep)};
  if (latencies.empty()) latency.caption = "No request was answered.";
  if (rates.empty()) rate.caption = "No request was answered.";
  if (!latencies.empty()) {
    latency.images.push_back(drawing(sweep, latencies, "latency-load", "Latency", "time", seconds_tick));
  }
  if (!rates.empty()) {
    rate.images.push_back(drawing(sweep, rates, "throughput-load", "Throughput", "per second", number_tick));
  }
  page.figures = {std::move(latency), std::move(rate)};
  page.sections.push_back({"points", "All points", rows_html(sweep_table(sweep))});
  return html_page(page);
}

}  // namespace perfcast::ai
