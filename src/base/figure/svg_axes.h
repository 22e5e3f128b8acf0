#pragma once
// Scales, axes, legends and number formats that the figures share.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/figure/svg_canvas.h"

namespace perfcast {

// Maps values to pixels.
class Scale {
 public:
  // `low` < `high` are widened where they are not apart; logarithmic: both > 0.
  static Scale linear(double low, double high, double from_px, double to_px);
  static Scale logarithmic(double low, double high, double from_px, double to_px);

  double at(double value) const;  // values outside go to the nearer end
  // Round values inside: 3 to 5 at the least, more where the scale is long.
  std::vector<double> ticks() const;
  double from() const { return from_; }
  double to() const { return to_; }

 private:
  Scale(bool logarithmic, double low, double high, double from_px, double to_px);
  bool logarithmic_;
  double low_, high_, from_, to_;
};

// 0.05, 0.5, 2, 20, 1500: no more digits than a reader takes in.
std::string ratio_text(double value);
// 0.1234 -> "12.3%".
std::string percent_text(double share);
// 0.1 -> "10%", for ticks.
std::string whole_percent_text(double share);

// Width that `text` takes at `font_px`, on the generous side; counts UTF-8 code points.
double text_width(std::string_view text, double font_px);
// Shortened in its middle to fit: names of processors differ at both ends. Bold text takes more room: kBoldPx.
std::string fitted(std::string_view text, double width, double font_px);
inline constexpr double kBoldPx = 15;  // font_px of panel titles

using NumberText = std::string (*)(double);
// Grid lines across [top, bottom], numbers below (and above where `both_ends`), label under them.
void draw_x_axis(SvgCanvas& canvas, const Scale& scale, double top, double bottom, std::string_view label,
                 NumberText number, bool both_ends = false);
// Grid lines across [left, right], numbers on the left, label beside them, upwards.
void draw_y_axis(SvgCanvas& canvas, const Scale& scale, double left, double right, std::string_view label,
                 NumberText number);

// One colour, shape and dash per series, the same in every figure.
std::string series_class(size_t series);
Marker series_marker(size_t series);

// Where labels of points at these heights (ascending) stand so that none touch, `step` apart at the least: in their
// order, pushed down from `top` on, then all up where the last one would stand below `bottom`.
std::vector<double> spread_labels(const std::vector<double>& heights, double top, double bottom, double step);

struct LegendEntry {
  enum class Kind { kMarker, kLine, kBox } kind = Kind::kMarker;
  Marker shape = Marker::kCircle;
  std::string classes, text;
};
// From left to right, wrapped at `right`; -> y of the line below the last.
double draw_legend(SvgCanvas& canvas, double left, double right, double y, const std::vector<LegendEntry>& entries);

}  // namespace perfcast
