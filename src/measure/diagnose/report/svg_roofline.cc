// Hot functions under the ceilings of this machine: how much they compute a second against how much a byte feeds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/figure/svg_axes.h"
#include "base/figure/svg_canvas.h"
#include "base/text.h"
#include "measure/diagnose/report/diagnosis_figures.h"
#include "measure/diagnose/report/report_words.h"

namespace perfcast::measure {
namespace {

constexpr double kRoofLeft = 74, kRoofRight = 640, kRoofTop = 40, kRoofBottom = 400, kRoofPanel = 460;
constexpr double kNameX = 668, kNameStep = 31, kNamePx = 11.5;
constexpr double kGiga = 1e-9;

struct RoofPoint {
  const RooflinePoint* point = nullptr;
  double x = 0, y = 0, label_y = 0;
};

std::string giga_text(double value) { return fmt::format("{:.3g}", value); }

void place_labels(std::vector<RoofPoint>& points) {
  std::sort(points.begin(), points.end(), [](const RoofPoint& a, const RoofPoint& b) { return a.y < b.y; });
  std::vector<double> heights;
  heights.reserve(points.size());
  for (const RoofPoint& point : points) heights.push_back(point.y);
  const std::vector<double> labels = spread_labels(heights, kRoofTop + 6, kRoofBottom + 10, kNameStep);
  for (size_t i = 0; i < points.size(); ++i) points[i].label_y = labels[i];
}

class RooflinePanel {
 public:
  RooflinePanel(const Diagnosis& diagnosis, bool is_float)
      : diagnosis_(diagnosis), roofline_(*diagnosis.roofline), is_float_(is_float) {
    for (const RooflinePoint& point : roofline_.points) {
      if (point.is_float == is_float && point.operations_per_byte) points_.push_back(&point);
    }
    if (points_.size() > kMostDrawn) points_.resize(kMostDrawn);
  }
  bool is_empty() const { return points_.empty(); }
  void draw(SvgCanvas& canvas, double offset);

 private:
  static constexpr size_t kMostDrawn = 11;

  double per_cpu(double one, double all) const {
    const double cpus = std::max(1, roofline_.ceilings.cpus_count);
    return roofline_.runs_in_parallel && all > 0 ? all / cpus : one;
  }
  double top_per_s() const;
  bool has_format(const std::string& format) const {
    return std::any_of(points_.begin(), points_.end(), [&](const RooflinePoint* of) { return of->format == format; });
  }
  void set_scales(double offset);
  void draw_roofs(SvgCanvas& canvas);
  void draw_ceilings(SvgCanvas& canvas);
  void draw_points(SvgCanvas& canvas, double offset);

  const Diagnosis& diagnosis_;
  const Roofline& roofline_;
  bool is_float_;
  std::vector<const RooflinePoint*> points_;
  double x_low_ = 0, x_high_ = 0, y_low_ = 0, y_high_ = 0;
  Scale x_ = Scale::logarithmic(0.01, 100, kRoofLeft, kRoofRight), y_ = x_;
};

double RooflinePanel::top_per_s() const {
  double top = 0;
  for (const RooflinePoint* const point : points_) top = std::max(top, point->ceiling_per_s);
  return top;
}

void RooflinePanel::set_scales(double offset) {
  double slowest = kGiga * points_.front()->operations_per_s, fastest = kGiga * top_per_s();
  x_low_ = x_high_ = *points_.front()->operations_per_byte;
  for (const RooflinePoint* const point : points_) {
    slowest = std::min(slowest, kGiga * point->operations_per_s);
    fastest = std::max(fastest, kGiga * point->operations_per_s);
    x_low_ = std::min(x_low_, *point->operations_per_byte);
    x_high_ = std::max(x_high_, *point->operations_per_byte);
  }
  // The farthest memory's ridge belongs into the picture; what hardly moves a byte stands at its right.
  if (!roofline_.ceilings.bandwidth.empty() && top_per_s() > 0) {
    const BandwidthCeiling& last = roofline_.ceilings.bandwidth.back();
    const double ridge = top_per_s() / per_cpu(last.one_cpu_bytes_per_s, last.all_cpus_bytes_per_s);
    x_high_ = std::clamp(x_high_, ridge, 10 * ridge);
    x_low_ = std::min(x_low_, ridge / 10);
  }
  x_low_ /= 4;
  x_high_ *= 4;
  y_low_ = slowest / 4;
  y_high_ = 2.2 * fastest;
  x_ = Scale::logarithmic(x_low_, x_high_, kRoofLeft, kRoofRight);
  y_ = Scale::logarithmic(y_low_, y_high_, offset + kRoofBottom, offset + kRoofTop);
}

// Each memory's roof rises to the ceiling of arithmetic, its name along it.
void RooflinePanel::draw_roofs(SvgCanvas& canvas) {
  const double top = kGiga * top_per_s();
  if (!(top > 0)) return;
  constexpr double kAlong = 12, kAbove = 4, kDegrees = 57.29577951308232;
  for (const BandwidthCeiling& level : roofline_.ceilings.bandwidth) {
    const double bytes_per_s = per_cpu(level.one_cpu_bytes_per_s, level.all_cpus_bytes_per_s);
    const double slope = kGiga * bytes_per_s;
    const double from = std::max(x_low_, y_low_ / slope), ridge = std::min(x_high_, top / slope);
    if (from >= ridge) continue;
    const double x1 = x_.at(from), y1 = y_.at(slope * from), x2 = x_.at(ridge), y2 = y_.at(slope * ridge);
    canvas.polyline({{x1, y1}, {x2, y2}}, "roof");
    const double angle = std::atan2(y1 - y2, x2 - x1), length = std::hypot(x2 - x1, y1 - y2);
    const std::string name = fmt::format("{} {}/s", level.level, human_bytes(bytes_per_s));
    if (text_width(name, kNamePx) + kAlong > length) continue;
    canvas.rising_text(x1 + kAlong * std::cos(angle) - kAbove * std::sin(angle),
                       y1 - kAlong * std::sin(angle) - kAbove * std::cos(angle), kDegrees * angle, name, "tick halo");
  }
}

void RooflinePanel::draw_ceilings(SvgCanvas& canvas) {
  struct CeilingLine {
    double per_s = 0;
    std::string text;
    bool is_widest = false;
  };
  std::vector<CeilingLine> lines;
  const MachineCeilings& ceilings = roofline_.ceilings;
  if (!is_float_ && ceilings.one_cpu_additions_per_s > 0) {
    const double per_s = per_cpu(ceilings.one_cpu_additions_per_s, ceilings.all_cpus_additions_per_s);
    lines.push_back({kGiga * per_s, fmt::format("additions of whole numbers: {} G/s", giga_text(kGiga * per_s)), true});
  }
  for (const ComputeCeiling& of : ceilings.compute) {
    if (!is_float_ || !has_format(of.format)) continue;
    const double per_s = kGiga * per_cpu(of.one_cpu_flops_per_s, of.all_cpus_flops_per_s);
    lines.push_back({per_s, fmt::format("{}, {}: {} GFLOP/s", of.format, of.isa, giga_text(per_s)),
                     ceilings.widest(of.format) == &of});
  }
  std::sort(lines.begin(), lines.end(), [](const CeilingLine& a, const CeilingLine& b) { return a.per_s < b.per_s; });
  double free = 1e9;
  for (const CeilingLine& line : lines) {
    if (line.per_s < y_low_ || line.per_s > y_high_) continue;
    const double y = y_.at(line.per_s);
    canvas.line(kRoofLeft, y, kRoofRight, y, line.is_widest ? "top" : "low");
    const double text_y = std::min(y - 4, free);
    canvas.text(kRoofRight - 6, text_y, line.text, "tick halo", "end");
    free = text_y - 13;
  }
}

void RooflinePanel::draw_points(SvgCanvas& canvas, double offset) {
  std::vector<RoofPoint> drawn;
  drawn.reserve(points_.size());
  for (const RooflinePoint* const point : points_)
    drawn.push_back({point, x_.at(*point->operations_per_byte), y_.at(kGiga * point->operations_per_s) - offset, 0});
  place_labels(drawn);
  for (size_t i = 0; i < drawn.size(); ++i) {
    const RoofPoint& at = drawn[i];
    canvas.line(at.x, offset + at.y, kNameX - 6, offset + at.label_y, "leader");
  }
  const char* const unit = is_float_ ? "GFLOP/s" : "G instr./s";
  for (size_t i = 0; i < drawn.size(); ++i) {
    const RoofPoint& at = drawn[i];
    const HotFunction& function = diagnosis_.seen.functions[at.point->function];
    const std::string colour = fmt::format("s{}", i % 8);
    const double radius = 4 + 8 * std::sqrt(std::clamp(function.cpu_share, 0.0, 1.0));
    const std::string words = function.in_words() + ": " + roofline_in_words(*at.point);
    canvas.marker(Marker::kCircle, at.x, offset + at.y, radius, colour + " fill on-fill", words);
    canvas.marker(Marker::kSquare, kNameX + 2, offset + at.label_y - 4, 4.5, colour + " fill");
    canvas.text(kNameX + 12, offset + at.label_y,
                fitted(short_function_name(function.name()), kFigureWidth - kNameX - 20, kNamePx), "row", "start",
                words);
    canvas.text(kNameX + 12, offset + at.label_y + 13,
                fmt::format("{} {}, {} of the CPU time", giga_text(kGiga * at.point->operations_per_s), unit,
                            percent_words(function.cpu_share)),
                "tick");
  }
}

void RooflinePanel::draw(SvgCanvas& canvas, double offset) {
  set_scales(offset);
  canvas.text(kRoofLeft, offset + 22, is_float_ ? "floating-point code" : "code of whole numbers", "panel");
  draw_x_axis(canvas, x_, offset + kRoofTop, offset + kRoofBottom,
              is_float_ ? "floating-point operations for each byte loaded or stored"
                        : "instructions for each byte loaded or stored",
              ratio_text);
  draw_y_axis(canvas, y_, kRoofLeft, kRoofRight, is_float_ ? "GFLOP/s" : "instructions, G/s", ratio_text);
  draw_roofs(canvas);
  draw_ceilings(canvas);
  draw_points(canvas, offset);
}

std::string points_csv(const Diagnosis& diagnosis) {
  std::string csv = csv_line({"function", "unit", "operations_per_s", "operations_per_byte", "ceiling_per_s", "cpu_s"});
  for (const RooflinePoint& point : diagnosis.roofline->points) {
    csv += csv_line({diagnosis.seen.functions[point.function].name(), point.is_float ? "flops" : "instructions",
                     csv_number(point.operations_per_s),
                     point.operations_per_byte ? csv_number(*point.operations_per_byte) : "",
                     point.ceiling_per_s > 0 ? csv_number(point.ceiling_per_s) : "", csv_number(point.time_s)});
  }
  return csv;
}

}  // namespace

Figure roofline_figure(const Diagnosis& diagnosis) {
  Figure figure{"roofline", "Distance to what this machine can do", "", {}, ""};
  if (!diagnosis.roofline) {
    figure.caption = "No roofline: what functions compute takes an instrumented run, and there was none.";
    return figure;
  }
  RooflinePanel floats(diagnosis, true), integers(diagnosis, false);
  if (floats.is_empty() && integers.is_empty()) {
    figure.caption = "No roofline: no hot function's code was counted under the instrumenter.";
    return figure;
  }
  figure.caption = fmt::format(
      "Circles are hot functions, by their share of the CPU time; lines are what one CPU of this machine reached{}. A "
      "function below the line of a memory can be as fast as its arithmetic lets it where its data come from there; "
      "above it, its data come from somewhere nearer.",
      diagnosis.roofline->runs_in_parallel ? " while all were busy" : "");
  figure.csv = points_csv(diagnosis);
  const double panels = (floats.is_empty() ? 0 : 1) + (integers.is_empty() ? 0 : 1);
  SvgCanvas canvas("roofline-points", kFigureWidth, kRoofPanel * panels, figure.title,
                   "Operations for each byte across, operations a second upwards; lines are measured limits");
  double offset = 0;
  for (RooflinePanel* const panel : {&floats, &integers}) {
    if (panel->is_empty()) continue;
    panel->draw(canvas, offset);
    offset += kRoofPanel;
  }
  figure.images.push_back(canvas.to_svg());
  return figure;
}

}  // namespace perfcast::measure
