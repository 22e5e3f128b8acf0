#include "base/figure/label_placer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LabelPlacer, HidesNeitherMarksNorLabels) {
  SvgCanvas canvas("f", 300, 200, "t", "d");
  const std::vector<LabelMark> marks = {{100, 100, 4}, {108, 100, 4}, {100, 108, 4}, {108, 108, 4}, {104, 104, 4}};
  LabelPlacer placer(marks, {0, 0, 300, 200});
  size_t placed = 0;
  for (const LabelMark& mark : marks) placed += placer.place(canvas, mark, "a device", "row", 10) ? 1 : 0;
  ASSERT_EQ(placer.labels().size(), placed);
  EXPECT_GE(placed, 3u);
  EXPECT_LT(placed, marks.size());  // the one in the middle has no room
  for (size_t i = 0; i < placed; ++i) {
    for (size_t k = 0; k < i; ++k) EXPECT_FALSE(placer.labels()[i].meets(placer.labels()[k]));
    for (const LabelMark& mark : marks) {
      EXPECT_FALSE(placer.labels()[i].meets({mark.x - 4, mark.y - 4, mark.x + 4, mark.y + 4}));
    }
  }
}

TEST(LabelPlacer, StaysInItsFrame) {
  SvgCanvas canvas("f", 100, 50, "t", "d");
  const LabelMark mark{95, 25, 4};
  LabelPlacer placer({mark}, {0, 0, 100, 50});
  EXPECT_TRUE(placer.place(canvas, mark, "left of it", "row", 10));
  EXPECT_LE(placer.labels().front().right, 95);
  EXPECT_FALSE(placer.place(canvas, mark, "far too long a name for a frame of this width", "row", 10));
  EXPECT_THAT(canvas.to_svg(), HasSubstr("left of it"));
  EXPECT_THAT(canvas.to_svg(), Not(HasSubstr("far too long")));
}

}  // namespace
}  // namespace perfcast
