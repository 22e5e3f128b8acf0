#include "base/figure/svg_canvas.h"

#include <fmt/format.h>

#include <cstdint>

namespace perfcast {
namespace {

// Length of the UTF-8 sequence that starts at `at`; 0: none does.
size_t sequence_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  if (length == 0 || at + length > text.size()) return 0;
  uint32_t code = length == 1 ? lead : lead & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  const bool unprintable = code > 0x10FFFF || code == 0xFFFE || code == 0xFFFF || (code >= 0x80 && code < 0xA0);
  return overlong || surrogate || unprintable ? 0 : length;
}

// A tenth of a pixel is enough, and keeps files small and the same everywhere.
std::string pixels(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t length = sequence_length(text, i);
    if (length == 0) {
      result += "\xEF\xBF\xBD";
      ++i;
      continue;
    }
    const char c = text[i];
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        if (length == 1 && (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)) {
          result += c == '\n' || c == '\t' ? ' ' : '?';
        } else {
          result += text.substr(i, length);
        }
    }
    i += length;
  }
  return result;
}

SvgCanvas::SvgCanvas(std::string id, double width, double height, std::string_view title, std::string_view description)
    : id_(std::move(id)),
      title_(escape_html(title)),
      description_(escape_html(description)),
      width_(width),
      height_(height) {}

void SvgCanvas::element(std::string_view name, const std::string& attributes, std::string_view classes,
                        std::string_view tooltip) {
  body_ += fmt::format("<{} {}", name, attributes);
  if (!classes.empty()) body_ += fmt::format(" class=\"{}\"", classes);
  if (tooltip.empty()) {
    body_ += "/>\n";
  } else {
    body_ += fmt::format("><title>{}</title></{}>\n", escape_html(tooltip), name);
  }
}

void SvgCanvas::text(double x, double y, std::string_view text, std::string_view classes, std::string_view anchor,
                     std::string_view tooltip) {
  body_ += fmt::format("<text x=\"{}\" y=\"{}\"", pixels(x), pixels(y));
  if (anchor != "start") body_ += fmt::format(" text-anchor=\"{}\"", anchor);
  if (!classes.empty()) body_ += fmt::format(" class=\"{}\"", classes);
  body_ += ">";
  if (!tooltip.empty()) body_ += fmt::format("<title>{}</title>", escape_html(tooltip));
  body_ += escape_html(text) + "</text>\n";
}

void SvgCanvas::vertical_text(double x, double y, std::string_view text, std::string_view classes) {
  body_ +=
      fmt::format("<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\" class=\"{}\">{}</text>\n",
                  pixels(x), pixels(y), classes, escape_html(text));
}

void SvgCanvas::rising_text(double x, double y, double degrees, std::string_view text, std::string_view classes) {
  body_ += fmt::format("<text transform=\"translate({} {}) rotate({})\" class=\"{}\">{}</text>\n", pixels(x), pixels(y),
                       pixels(-degrees), classes, escape_html(text));
}

void SvgCanvas::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  element("line",
          fmt::format("x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", pixels(x1), pixels(y1), pixels(x2), pixels(y2)),
          classes, "");
}

void SvgCanvas::rectangle(double x, double y, double width, double height, std::string_view classes,
                          std::string_view tooltip) {
  element(
      "rect",
      fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", pixels(x), pixels(y), pixels(width), pixels(height)),
      classes, tooltip);
}

void SvgCanvas::polyline(const std::vector<std::pair<double, double>>& points, std::string_view classes) {
  std::string list;
  for (const auto& [x, y] : points) list += (list.empty() ? "" : " ") + pixels(x) + "," + pixels(y);
  element("polyline", "points=\"" + list + "\"", classes, "");
}

void SvgCanvas::marker(Marker shape, double x, double y, double radius, std::string_view classes,
                       std::string_view tooltip) {
  const auto path = [&](std::initializer_list<std::pair<double, double>> corners, bool closed) {
    std::string d;
    for (const auto& [dx, dy] : corners) {
      d += fmt::format("{}{} {}", d.empty() ? "M" : "L", pixels(x + dx * radius), pixels(y + dy * radius));
    }
    element("path", "d=\"" + d + (closed ? "Z\"" : "\""), classes, tooltip);
  };
  switch (shape) {
    case Marker::kCircle:
      element("circle", fmt::format("cx=\"{}\" cy=\"{}\" r=\"{}\"", pixels(x), pixels(y), pixels(radius)), classes,
              tooltip);
      break;
    case Marker::kDiamond:
      path({{0, -1.25}, {1.25, 0}, {0, 1.25}, {-1.25, 0}}, true);
      break;
    case Marker::kSquare:
      path({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}}, true);
      break;
    case Marker::kTriangle:
      path({{0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}}, true);
      break;
    case Marker::kCross:
      path({{-0.9, -0.9}, {0, 0}, {0.9, -0.9}, {0, 0}, {0.9, 0.9}, {0, 0}, {-0.9, 0.9}, {0, 0}}, true);
      break;
    case Marker::kPlus:
      path({{-1.2, 0}, {0, 0}, {0, -1.2}, {0, 0}, {1.2, 0}, {0, 0}, {0, 1.2}, {0, 0}}, true);
      break;
  }
}

std::string SvgCanvas::to_svg() const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"{0}\" viewBox=\"0 0 {1} {2}\" role=\"img\" "
      "aria-labelledby=\"{0}-title {0}-desc\">\n<title id=\"{0}-title\">{3}</title>\n<desc id=\"{0}-desc\">{4}</desc>\n"
      "{5}</svg>\n",
      id_, pixels(width_), pixels(height_), title_, description_, body_);
}

}  // namespace perfcast
