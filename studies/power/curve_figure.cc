#include "studies/power/curve_figure.h"

#include <algorithm>
#include <map>

#include "base/figure/page_style.h"
#include "base/figure/svg_axes.h"

namespace perfcast::measure::power_study {

std::string curve_figure(const std::string& title, const std::vector<TransferCurve>& curves,
                         const std::vector<CurveRule>& rules) {
  constexpr double kLeft = 76, kRight = 640, kTop = 44, kBottom = 390, kWidth = 900, kHeight = 440;
  constexpr double kInset = 24;  // of the first and last number of samples
  SvgCanvas canvas("transfer", kWidth, kHeight, title,
                   "Lines of mean error over the number of samples, one per method");
  std::map<size_t, double> places;
  double low = 1e9, high = 0;
  for (const TransferCurve& curve : curves) {
    for (const CurvePoint& point : curve.points) {
      places[point.samples] = 0;
      low = std::min(low, point.lowest);
      high = std::max(high, point.highest);
    }
  }
  for (const CurveRule& rule : rules) low = std::min(low, rule.error);
  // Numbers of samples stand at equal distances: they grow by factors, and begin with 0.
  size_t i = 0;
  for (auto& [samples, x] : places) {
    x = kLeft + kInset +
        (kRight - kLeft - 2 * kInset) * static_cast<double>(i++) /
            static_cast<double>(std::max<size_t>(1, places.size() - 1));
  }
  const Scale y = Scale::logarithmic(low * 0.9, std::min(high * 1.05, 1.5), kBottom, kTop);
  canvas.text(kLeft, 22, title, "panel");
  for (const auto& [samples, x] : places) {
    canvas.line(x, kTop, x, kBottom, "grid");
    canvas.text(x, kBottom + 15, std::to_string(samples), "tick", "middle");
  }
  canvas.line(kLeft, kBottom, kRight, kBottom, "axis");
  canvas.text((kLeft + kRight) / 2, kBottom + 33, "samples of the new machine", "label", "middle");
  draw_y_axis(canvas, y, kLeft, kRight, "mean error of power", whole_percent_text);
  for (const CurveRule& rule : rules) {
    canvas.line(kLeft, y.at(rule.error), kRight, y.at(rule.error), "rule");
    canvas.text(kLeft + 4, y.at(rule.error) - 4, rule.text, "tick");
  }
  std::vector<std::pair<double, size_t>> ends;
  for (size_t c = 0; c < curves.size(); ++c) {
    if (curves[c].points.empty()) continue;
    const std::string look = series_class(c);
    std::vector<std::pair<double, double>> line;
    for (const CurvePoint& point : curves[c].points) {
      const double x = places[point.samples];
      line.emplace_back(x, y.at(point.error));
      canvas.line(x, y.at(point.lowest), x, y.at(point.highest), look + " stroke thin");
    }
    canvas.polyline(line, look + " stroke curve");
    for (const auto& [x, at] : line) canvas.marker(series_marker(c), x, at, 4.5, look + " hollow");
    ends.emplace_back(line.back().second, c);
  }
  std::sort(ends.begin(), ends.end());
  std::vector<double> heights;
  heights.reserve(ends.size());
  for (const auto& [at, c] : ends) heights.push_back(at);
  const std::vector<double> labels = spread_labels(heights, kTop + 6, kBottom, 17);
  for (size_t e = 0; e < ends.size(); ++e) {
    const size_t c = ends[e].second;
    canvas.line(kRight - kInset + 8, ends[e].first, kRight + 10, labels[e], series_class(c) + " stroke thin");
    canvas.marker(series_marker(c), kRight + 18, labels[e], 4.5, series_class(c) + " hollow");
    canvas.text(kRight + 30, labels[e] + 4, curves[c].method + ", " + percent_text(curves[c].points.back().error),
                "series");
  }
  std::string svg = canvas.to_svg();
  svg.insert(svg.find('>') + 1, std::string("<style>") + kPageStyle + "svg{background:var(--paper)}</style>");
  return svg;
}

}  // namespace perfcast::measure::power_study
