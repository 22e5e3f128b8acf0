#include "base/figure/svg_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace perfcast {
namespace {

constexpr double kFontPx = 11;
constexpr double kLabelLeft = 46;  // of a vertical axis, at the least
constexpr double kLeastRatio = 1e-12, kMostRatio = 1e12;
constexpr double kTickEveryPx = 150;  // at least

std::vector<double> linear_ticks(double low, double high) {
  const double rough = (high - low) / 7.5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (factor * power >= rough) step = factor * power;
  }
  std::vector<double> ticks;
  const double slack = 1e-9 * (high - low);
  const auto first = static_cast<int64_t>(std::ceil((low - slack) / step));
  const auto last = static_cast<int64_t>(std::floor((high + slack) / step));
  for (int64_t k = first; k <= last; ++k) ticks.push_back(static_cast<double>(k) * step);
  return ticks;
}

std::vector<double> log_ticks(double low, double high, size_t fewest) {
  static const std::vector<std::vector<double>> kMantissas = {
      {1}, {1, 3}, {1, 2, 5}, {1, 1.5, 2, 3, 5, 7}, {1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8, 9}};
  for (const auto& mantissas : kMantissas) {
    std::vector<double> ticks;
    const auto first = static_cast<int>(std::floor(std::log10(low))), last = static_cast<int>(std::log10(high) + 1);
    for (int power = first; power <= last; ++power) {
      for (const double mantissa : mantissas) {
        const double value = mantissa * std::pow(10, power);
        if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) ticks.push_back(value);
      }
    }
    if (ticks.size() >= fewest) return ticks;
  }
  return linear_ticks(low, high);
}

size_t code_points(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// The first or last `count` code points.
std::string_view head(std::string_view text, size_t count) {
  size_t i = 0;
  for (; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 && count-- == 0) break;
  }
  return text.substr(0, i);
}
std::string_view tail(std::string_view text, size_t count) {
  const size_t all = code_points(text);
  return text.substr(head(text, all - std::min(all, count)).size());
}

}  // namespace

Scale::Scale(bool logarithmic, double low, double high, double from_px, double to_px)
    : logarithmic_(logarithmic), low_(low), high_(high), from_(from_px), to_(to_px) {}

Scale Scale::linear(double low, double high, double from_px, double to_px) {
  high = std::min(high, kMostRatio);  // an error may overflow
  if (!(high > low)) high = low + 1;
  return {false, low, high, from_px, to_px};
}

Scale Scale::logarithmic(double low, double high, double from_px, double to_px) {
  // Ratios beyond these are faults of the data; they must not become faults of the drawing.
  low = std::clamp(low, kLeastRatio, kMostRatio);
  high = std::clamp(high, kLeastRatio, kMostRatio);
  if (!(high > low * 1.1)) {
    low /= 1.1;
    high *= 1.1;
  }
  return {true, low, high, from_px, to_px};
}

double Scale::at(double value) const {
  const double share = logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return from_ + std::clamp(std::isnan(share) ? 0 : share, 0.0, 1.0) * (to_ - from_);
}

std::vector<double> Scale::ticks() const {
  const auto fewest = static_cast<size_t>(std::clamp(std::abs(to_ - from_) / kTickEveryPx, 3.0, 5.0));
  return logarithmic_ ? log_ticks(low_, high_, fewest) : linear_ticks(low_, high_);
}

std::string ratio_text(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.{}f}", value, size >= 9.995 ? 1 : size >= 0.0995 ? 2 : 4);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string percent_text(double share) { return std::isfinite(share) ? fmt::format("{:.1f}%", 100 * share) : "-"; }
std::string whole_percent_text(double share) { return ratio_text(std::round(1e6 * share) / 1e4) + "%"; }

double text_width(std::string_view text, double font_px) {
  return 0.57 * font_px * static_cast<double>(code_points(text));
}

std::string fitted(std::string_view text, double width, double font_px) {
  if (text_width(text, font_px) <= width) return std::string(text);
  const auto room = static_cast<size_t>(std::max(3.0, width / (0.57 * font_px)));
  const size_t end = (room - 1) / 2;
  return std::string(head(text, room - 1 - end)) + "…" + std::string(tail(text, end));
}

void draw_x_axis(SvgCanvas& canvas, const Scale& scale, double top, double bottom, std::string_view label,
                 NumberText number, bool both_ends) {
  double last = -1e9;
  for (const double tick : scale.ticks()) {
    const double x = scale.at(tick);
    canvas.line(x, top, x, bottom, "grid");
    const std::string text = number(tick);
    if (x - last < text_width(text, kFontPx) + 8) continue;  // numbers never touch
    last = x;
    canvas.text(x, bottom + 15, text, "tick", "middle");
    if (both_ends) canvas.text(x, top - 6, text, "tick", "middle");
  }
  canvas.line(scale.from(), bottom, scale.to(), bottom, "axis");
  canvas.text((scale.from() + scale.to()) / 2, bottom + 33, label, "label", "middle");
}

void draw_y_axis(SvgCanvas& canvas, const Scale& scale, double left, double right, std::string_view label,
                 NumberText number) {
  double widest = 0;
  for (const double tick : scale.ticks()) {
    const std::string text = number(tick);
    widest = std::max(widest, text_width(text, kFontPx));
    canvas.line(left, scale.at(tick), right, scale.at(tick), "grid");
    canvas.text(left - 7, scale.at(tick) + 4, text, "tick", "end");
  }
  canvas.line(left, scale.from(), left, scale.to(), "axis");
  // Beside the longest number, as far as the margin has room for it.
  const double label_left = std::max(kLabelLeft, std::min(widest + 17, left - kFontPx));
  canvas.vertical_text(left - label_left, (scale.from() + scale.to()) / 2, label, "label");
}

std::string series_class(size_t series) { return fmt::format("s{} d{}", series % 8, series % 5); }

Marker series_marker(size_t series) {
  constexpr std::array kShapes = {Marker::kCircle,   Marker::kDiamond, Marker::kSquare,
                                  Marker::kTriangle, Marker::kCross,   Marker::kPlus};
  return kShapes[series % kShapes.size()];
}

std::vector<double> spread_labels(const std::vector<double>& heights, double top, double bottom, double step) {
  std::vector<double> labels;
  labels.reserve(heights.size());
  double free = top;
  for (const double height : heights) {
    labels.push_back(std::max(height, free));
    free = labels.back() + step;
  }
  double ceiling = bottom;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
    *label = std::min(*label, ceiling);
    ceiling = *label - step;
  }
  return labels;
}

double draw_legend(SvgCanvas& canvas, double left, double right, double y, const std::vector<LegendEntry>& entries) {
  constexpr double kSymbol = 30, kGap = 22, kLine = 19;
  double x = left;
  for (const LegendEntry& entry : entries) {
    const double width = kSymbol + text_width(entry.text, kFontPx + 1) + kGap;
    if (x > left && x + width - kGap > right) {
      x = left;
      y += kLine;
    }
    const double middle = x + kSymbol / 2 - 3;
    if (entry.kind == LegendEntry::Kind::kBox) canvas.rectangle(middle - 11, y - 5, 22, 10, entry.classes);
    if (entry.kind == LegendEntry::Kind::kLine) canvas.line(middle - 12, y, middle + 12, y, entry.classes + " stroke");
    if (entry.kind == LegendEntry::Kind::kMarker) canvas.marker(entry.shape, middle, y, 4.5, entry.classes);
    canvas.text(x + kSymbol, y + 4, entry.text, "legend");
    x += width;
  }
  return y + kLine;
}

}  // namespace perfcast
