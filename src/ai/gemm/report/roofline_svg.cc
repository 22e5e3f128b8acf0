#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ai/gemm/report/report.h"
#include "base/figure/page_style.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"

namespace perfcast::ai::gemm {
namespace {

constexpr double kWidth = 1000, kPanel = 470, kLeft = 70, kRight = 640, kTop = 64, kBottom = 400;
constexpr double kLabelX = 665, kLabelStep = 15.5, kLabelPx = 11, kRoofStep = 12, kNothing = 1e9;

struct Point {
  const RungResult* row;
  double intensity, x, y, label_y;
};

double intensity(const RungResult& row) { return operations(row.shape) / problem_bytes(row); }

size_t series(Precision precision) { return static_cast<size_t>(precision); }

std::string axis_number(double value) { return ratio_text(value); }

void place_labels(std::vector<Point>& points) {
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.y < b.y; });
  std::vector<double> heights;
  heights.reserve(points.size());
  for (const Point& point : points) heights.push_back(point.y);
  const std::vector<double> labels = spread_labels(heights, kTop - 20, kBottom + 30, kLabelStep);
  for (size_t i = 0; i < points.size(); ++i) points[i].label_y = labels[i];
}

class Panel {
 public:
  Panel(const GemmResult& result, SvgCanvas& canvas, double offset, const Scale& x, const Scale& y)
      : result_(result), canvas_(canvas), offset_(offset), x_(x), y_(y) {}

  // The problem that `first` is a row of.
  void draw(const RungResult& first) {
    const Shape& shape = first.shape;
    const bool square = shape.m == shape.n && shape.n == shape.k;
    canvas_.text(kLeft, offset_ + 34,
                 first.conv ? to_text(*first.conv) : fmt::format("{} = {}", square ? "N" : "M x N x K", to_text(shape)),
                 "panel");
    draw_x_axis(canvas_, x_, offset_ + kTop, offset_ + kBottom, "operations per byte that must be moved", axis_number);
    draw_y_axis(canvas_, y_, kLeft, kRight, "GFLOP/s (int8: GOP/s)", axis_number);
    roofs();
    std::vector<Point> points;
    for (const RungResult& row : result_.rungs) {
      if (!same_problem(row, first) || row.device != "cpu" || !std::isfinite(row.gflops)) continue;
      const double at = intensity(row);
      points.push_back({&row, at, x_.at(at), y_.at(row.gflops) - offset_, 0});
    }
    place_labels(points);
    for (const Point& point : points) {
      const RungResult& row = *point.row;
      const std::string colour = series_class(series(row.precision));
      canvas_.line(point.x + 5, offset_ + point.y, kLabelX - 4, offset_ + point.label_y - 3.5, "grid");
      const std::string label =
          fmt::format("{}{}: {}", row.title, row.threads > 1 ? fmt::format(", {} threads", row.threads) : "",
                      ratio_text(row.gflops));
      canvas_.marker(row.threads > 1 ? Marker::kDiamond : Marker::kCircle, point.x, offset_ + point.y, 4.5,
                     colour + " fill", label);
      canvas_.text(kLabelX, offset_ + point.label_y, fitted(label, kWidth - kLabelX - 8, kLabelPx), "row");
    }
  }

 private:
  // For each precision, at one thread and at the most: what memory feeds, up to what the units can do.
  void roofs() {
    std::set<std::pair<Precision, int>> drawn;
    std::vector<std::pair<double, std::string>> names;
    int most = 1;
    for (const Peak& peak : result_.peaks) {
      if (peak.device == "cpu" && !result_.oversubscribed(peak.device, peak.threads))
        most = std::max(most, peak.threads);
    }
    for (const Peak& peak : result_.peaks) {
      if (peak.device != "cpu" || (peak.threads != 1 && peak.threads != most)) continue;
      if (!drawn.emplace(peak.precision, peak.threads).second) continue;
      const double top = result_.peak("cpu", peak.precision, peak.threads);
      double per_byte = 0;
      for (const Bandwidth& bandwidth : result_.bandwidths) {
        if (bandwidth.threads == peak.threads) per_byte = bandwidth.gb_per_s;
      }
      if (!(per_byte > 0) || !std::isfinite(top)) continue;
      std::vector<std::pair<double, double>> points;
      const double from = 0.25, to = 20000, ridge = top / per_byte;
      points.emplace_back(x_.at(from), y_.at(from * per_byte));
      points.emplace_back(x_.at(ridge), y_.at(top));
      points.emplace_back(x_.at(to), y_.at(top));
      canvas_.polyline(points,
                       series_class(series(peak.precision)) + " stroke" + (peak.threads > 1 ? " d1 curve" : ""));
      names.emplace_back(y_.at(top) - 4, fmt::format("{}, {} thread{}: {}", name_of(peak.precision), peak.threads,
                                                     peak.threads == 1 ? "" : "s", ratio_text(top)));
    }
    // From the lowest up, each clear of the one below.
    std::sort(names.rbegin(), names.rend());
    double ceiling = kNothing;
    for (const auto& [wanted, name] : names) {
      const double at = std::min(wanted, ceiling);
      canvas_.text(kRight - 6, at, name, "tick", "end");
      ceiling = at - kRoofStep;
    }
  }

  const GemmResult& result_;
  SvgCanvas& canvas_;
  double offset_;
  const Scale &x_, &y_;
};

}  // namespace

Result<std::string> roofline_svg(const GemmResult& result) {
  if (result.bandwidths.empty()) {
    return Error{"no-bandwidth", "the memory roof was not measured", "--svg", "a run that measures it"};
  }
  std::vector<const RungResult*> problems;
  double low = 1, high = 10;
  for (const RungResult& row : result.rungs) {
    if (row.device != "cpu" || !std::isfinite(row.gflops)) continue;
    const auto same = [&row](const RungResult* before) { return same_problem(*before, row); };
    if (std::none_of(problems.begin(), problems.end(), same)) problems.push_back(&row);
    low = std::min(low, row.gflops);
    high = std::max(high, row.gflops);
  }
  if (problems.empty()) return Error{"nothing-to-draw", "no rung ran on this CPU", "--svg", ""};
  for (const Peak& peak : result.peaks) {
    if (std::isfinite(peak.gflops)) high = std::max(high, peak.gflops);
  }

  SvgCanvas canvas("roofline", kWidth, kPanel * static_cast<double>(problems.size()) + 24,
                   "Roofline of the GEMM ladder on " + result.cpu,
                   "Each rung as a point: operations per byte across, speed upwards; lines are the measured limits.");
  canvas.text(kLeft, 20, fitted((result.op == "conv" ? "Convolutions on " : "GEMM on ") + result.cpu, 500, kBoldPx),
              "panel");
  canvas.text(kLabelX, 20, "lines: measured limits; circles: 1 thread", "tick");
  double offset = 12;
  for (const RungResult* problem : problems) {
    const Scale x = Scale::logarithmic(0.25, 20000, kLeft, kRight);
    const Scale y = Scale::logarithmic(low / 2, high * 2, offset + kBottom, offset + kTop);
    Panel(result, canvas, offset, x, y).draw(*problem);
    offset += kPanel;
  }
  std::string svg = canvas.to_svg();
  // The look of a report's page, for a file without a page.
  svg.insert(svg.find('>') + 1, std::string("<style>") + kPageStyle + "svg{background:var(--paper)}</style>");
  return svg;
}

}  // namespace perfcast::ai::gemm
