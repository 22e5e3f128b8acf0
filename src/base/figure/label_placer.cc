#include "base/figure/label_placer.h"

#include <algorithm>
#include <array>

#include "base/figure/svg_axes.h"

namespace perfcast {

LabelPlacer::LabelPlacer(const std::vector<LabelMark>& marks, const LabelBox& frame) : frame_(frame) {
  marks_.reserve(marks.size());
  for (const LabelMark& mark : marks) {
    const double r = mark.radius + 0.5;
    marks_.push_back({mark.x - r, mark.y - r, mark.x + r, mark.y + r});
  }
}

bool LabelPlacer::place(SvgCanvas& canvas, const LabelMark& mark, std::string_view label, std::string_view classes,
                        double font_px, std::string_view tooltip) {
  const double width = text_width(label, font_px), gap = mark.radius + 3, up = font_px * 0.75;
  struct Spot {
    double dx, baseline;
    const char* anchor;
  };
  const std::array<Spot, 8> spots = {{{gap, up / 2, "start"},
                                      {-gap, up / 2, "end"},
                                      {0, -gap, "middle"},
                                      {0, gap + up, "middle"},
                                      {gap - 2, -gap + 2, "start"},
                                      {gap - 2, gap + up - 2, "start"},
                                      {-gap + 2, -gap + 2, "end"},
                                      {-gap + 2, gap + up - 2, "end"}}};
  for (const Spot& spot : spots) {
    const double x = mark.x + spot.dx, y = mark.y + spot.baseline;
    const double left = spot.anchor[0] == 's' ? x : spot.anchor[0] == 'e' ? x - width : x - width / 2;
    const LabelBox box{left, y - up - 0.5, left + width, y + 2};
    if (box.left < frame_.left || box.right > frame_.right || box.top < frame_.top || box.bottom > frame_.bottom) {
      continue;
    }
    const auto meets = [&](const LabelBox& other) { return box.meets(other); };
    if (std::any_of(marks_.begin(), marks_.end(), meets) || std::any_of(labels_.begin(), labels_.end(), meets)) {
      continue;
    }
    canvas.text(x, y, label, classes, spot.anchor, tooltip);
    labels_.push_back(box);
    return true;
  }
  return false;
}

}  // namespace perfcast
