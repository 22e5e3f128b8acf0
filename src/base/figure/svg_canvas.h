#pragma once
// SVG as text. Colours and fonts are CSS classes of the page that holds it (page_style.h), so that one drawing serves
// light, dark and print. Coordinates are pixels of the view box, y downwards. Every text is escaped here.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perfcast {

// Text from outside, for element content and quoted attributes: & < > " ' escaped, control characters replaced by '?',
// bytes that are no UTF-8 by U+FFFD.
std::string escape_html(std::string_view text);

// Shapes that stay apart without colour.
enum class Marker { kCircle, kDiamond, kSquare, kTriangle, kCross, kPlus };

class SvgCanvas {
 public:
  // `id` names the drawing in its page; title and description are what a screen reader says.
  SvgCanvas(std::string id, double width, double height, std::string_view title, std::string_view description);

  // `anchor`: "start", "middle" or "end". `tooltip`: empty for none.
  void text(double x, double y, std::string_view text, std::string_view classes = "", std::string_view anchor = "start",
            std::string_view tooltip = "");
  // Reads upwards, centred at (x, y).
  void vertical_text(double x, double y, std::string_view text, std::string_view classes = "");
  // Begins at (x, y) and rises by so many degrees.
  void rising_text(double x, double y, double degrees, std::string_view text, std::string_view classes = "");
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  void rectangle(double x, double y, double width, double height, std::string_view classes,
                 std::string_view tooltip = "");
  void polyline(const std::vector<std::pair<double, double>>& points, std::string_view classes);
  void marker(Marker shape, double x, double y, double radius, std::string_view classes, std::string_view tooltip = "");

  double width() const { return width_; }
  double height() const { return height_; }
  std::string to_svg() const;

 private:
  void element(std::string_view name, const std::string& attributes, std::string_view classes,
               std::string_view tooltip);

  std::string id_, title_, description_, body_;
  double width_, height_;
};

}  // namespace perfcast
