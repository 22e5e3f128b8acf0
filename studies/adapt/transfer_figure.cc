#include "studies/adapt/transfer_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "base/csv.h"
#include "base/figure/page.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"

namespace perfcast::program::adapt_study {
namespace {

constexpr double kLeft = 70, kTop = 40, kPanelHeight = 300, kGap = 70;

std::string count_text(double value) { return fmt::format("{:.0f}", value); }

// k on an axis of even steps: 0, 1, 2, 5, ... are one step apart.
struct Panel {
  std::string group;
  std::map<std::string, std::vector<const CurvePoint*>> methods;
  double highest = 0;
};

// All groups of all sets; a set of one group is that group.
std::vector<CurvePoint> points_of(const std::vector<TransferCurve>& curves) {
  std::vector<CurvePoint> points;
  for (const TransferCurve& curve : curves) {
    std::set<std::string> groups;
    for (const CurvePoint& point : curve.points) groups.insert(point.group);
    for (const CurvePoint& point : curve.points) {
      if (groups.size() != 2 || !point.group.empty()) points.push_back(point);
    }
  }
  return points;
}

}  // namespace

std::string transfer_svg(const std::vector<CurvePoint>& all) {
  std::map<std::string, Panel> panels;
  std::set<size_t> counts;
  std::map<std::string, size_t> series;
  for (const CurvePoint& point : all) {
    Panel& panel = panels[point.group];
    panel.group = point.group;
    panel.methods[point.method].push_back(&point);
    counts.insert(point.count);
    series.try_emplace(point.method, series.size());
    panel.highest = std::max(panel.highest, point.median_error + (std::isnan(point.spread) ? 0 : point.spread));
  }
  const std::vector<size_t> order(counts.begin(), counts.end());
  const double width = kFigureWidth;
  const double height = kTop + static_cast<double>(panels.size()) * (kPanelHeight + kGap) + 40;
  SvgCanvas canvas("transfer", width, height, "Error against the number of programs measured on a new platform",
                   "One panel per group of programs, one line per method; lower is better.");
  const double panel_width = width - kLeft - 20;
  const auto x_of = [&](size_t count) {
    const auto step = static_cast<double>(std::find(order.begin(), order.end(), count) - order.begin());
    const auto steps = static_cast<double>(std::max<size_t>(order.size() - 1, 1));
    return kLeft + 20 + (panel_width - 40) * step / steps;
  };
  double top = kTop;
  for (const auto& [group, panel] : panels) {
    const double bottom = top + kPanelHeight;
    const Scale y = Scale::linear(0, panel.highest * 1.05, bottom, top);
    canvas.text(kLeft, top - 12, group.empty() ? "all programs" : group, "panel");
    draw_y_axis(canvas, y, kLeft, kLeft + panel_width, "median error", whole_percent_text);
    for (const size_t count : order) {
      canvas.line(x_of(count), top, x_of(count), bottom, "grid");
      canvas.text(x_of(count), bottom + 16, count_text(static_cast<double>(count)), "tick", "middle");
    }
    canvas.text(kLeft + panel_width / 2, bottom + 34, "programs measured on the new platform", "label", "middle");
    for (const auto& [method, points] : panel.methods) {
      const size_t index = series.at(method);
      std::vector<std::pair<double, double>> line;
      line.reserve(points.size());
      for (const CurvePoint* point : points) line.emplace_back(x_of(point->count), y.at(point->median_error));
      canvas.polyline(line, series_class(index) + " stroke curve");
      for (const CurvePoint* point : points) {
        const double spread = std::isnan(point->spread) ? 0 : point->spread;
        canvas.line(x_of(point->count), y.at(point->median_error - spread), x_of(point->count),
                    y.at(point->median_error + spread), series_class(index) + " stroke");
        canvas.marker(series_marker(index), x_of(point->count), y.at(point->median_error), 4,
                      series_class(index) + " fill",
                      fmt::format("{}, {} measured: {:.1f}%", method, point->count, 100 * point->median_error));
      }
    }
    top = bottom + kGap;
  }
  std::vector<LegendEntry> legend;
  legend.reserve(series.size());
  for (const auto& [method, index] : series) {
    legend.push_back({LegendEntry::Kind::kMarker, series_marker(index), series_class(index) + " fill", method});
  }
  draw_legend(canvas, kLeft, kLeft + panel_width, top - 14, legend);
  return canvas.to_svg();
}

std::string transfer_page(const std::vector<TransferCurve>& curves) {
  const std::vector<CurvePoint> points = points_of(curves);
  std::string csv = "method,group,measured_count,median_error_ratio,spread_ratio,coverage_90_ratio,run_time_s\n";
  for (const CurvePoint& point : points) {
    csv += csv_line({point.method, point.group, std::to_string(point.count), csv_number(point.median_error),
                     csv_number(point.spread), csv_number(point.coverage_90), csv_number(point.seconds)});
  }
  Page page;
  page.title = "Times on a new platform from a few runs there";
  for (const TransferCurve& curve : curves) {
    page.lead += fmt::format("{}{} platforms of {} designs, {} programs.", page.lead.empty() ? "" : " ",
                             curve.platforms, curve.designs, curve.programs);
  }
  page.lead += " Each design is left out with all its platforms.";
  page.figures.push_back(
      {"transfer",
       "Error against the number of programs measured",
       "Median of |forecast / measured - 1| over the programs that were not measured; bars: standard "
       "deviation over draws of the measured programs, and of seeds of the networks.",
       {transfer_svg(points)},
       csv});
  return html_page(page);
}

}  // namespace perfcast::program::adapt_study
