#pragma once
// Labels beside marks where they hide neither a mark nor another label.

#include <string>
#include <string_view>
#include <vector>

#include "base/figure/svg_canvas.h"

namespace perfcast {

struct LabelMark {
  double x = 0, y = 0, radius = 0;
};

struct LabelBox {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool meets(const LabelBox& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

// What finds no room gets no label: a tooltip and a table have its name. Whoever is placed first has the choice.
class LabelPlacer {
 public:
  // `frame`: labels stay inside.
  LabelPlacer(const std::vector<LabelMark>& marks, const LabelBox& frame);

  // Tries eight places around the mark; false where none is free.
  bool place(SvgCanvas& canvas, const LabelMark& mark, std::string_view label, std::string_view classes, double font_px,
             std::string_view tooltip = "");

  const std::vector<LabelBox>& labels() const { return labels_; }  // where they stand so far

 private:
  LabelBox frame_;
  std::vector<LabelBox> marks_, labels_;
};

}  // namespace perfcast
