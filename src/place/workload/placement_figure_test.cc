#include "place/workload/placement_figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::place {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Placement placement_with_power() {
  Placement placement;
  placement.workload = "a <model>";
  for (int i = 0; i < 8; ++i) {
    PlacementRow row;
    row.device = "Device " + std::to_string(i);
    row.kind = static_cast<PlaceKind>(i % 4);
    row.time_s = 1 + i;
    row.power_w = 100.0 / (1 + i * i);
    row.price_time();
    placement.rows.push_back(row);
  }
  placement.rows[7].power_w = placement.rows[7].energy_joules = std::nullopt;
  EXPECT_TRUE(finish_placement({}, placement));
  return placement;
}

TEST(PlacementFigure, DrawsEachKindAndNamesTheFront) {
  const auto svg = placement_svg(placement_with_power());
  ASSERT_TRUE(svg);
  EXPECT_THAT(*svg, HasSubstr("a &lt;model&gt;: time and energy"));
  for (const char* kind : {"cpu (2)", "gpu (2)", "tpu (2)", "asic (1)"}) EXPECT_THAT(*svg, HasSubstr(kind));
  EXPECT_THAT(*svg, HasSubstr("1 whose power is not known left out"));
  EXPECT_THAT(*svg, HasSubstr("Device 0"));
  EXPECT_THAT(*svg, Not(HasSubstr("Device 7")));
  EXPECT_THAT(*svg, HasSubstr("both faster and needs less energy"));
  EXPECT_THAT(*svg, HasSubstr("Device 0 (cpu, datasheet): 1 s, 100 J<"));
  EXPECT_EQ(*svg, *placement_svg(placement_with_power()));
}

TEST(PlacementFigure, NothingCoversTheFront) {
  Placement placement = placement_with_power();
  for (PlacementRow& row : placement.rows) {  // all at one place but one, which is on the front
    row.time_s = row.device == "Device 3" ? 1.0 : 1.001;
    row.power_w = 100;
    row.price_time();
  }
  ASSERT_TRUE(finish_placement({}, placement));
  const std::string svg = *placement_svg(placement);
  EXPECT_GT(svg.find("Device 3 ("), svg.find("Device 0 ("));
  EXPECT_GT(svg.find("Device 3 ("), svg.find("Device 6 ("));
}

TEST(PlacementFigure, CostGoesBeforeEnergy) {
  Placement placement = placement_with_power();
  placement.currency = "EUR";
  for (PlacementRow& row : placement.rows) {
    row.price_per_hour = 1;
    row.price_time();
  }
  const auto svg = placement_svg(placement);
  ASSERT_TRUE(svg);
  EXPECT_THAT(*svg, HasSubstr("cost, EUR"));
  EXPECT_THAT(*svg, HasSubstr("both faster and costs less"));
  EXPECT_THAT(*svg, HasSubstr(">0.0005<"));
}

TEST(PlacementFigure, NeedsTwoRowsThatKnowBoth) {
  Placement placement = placement_with_power();
  for (PlacementRow& row : placement.rows) row.energy_joules = std::nullopt;
  const auto svg = placement_svg(placement);
  EXPECT_EQ(svg.error().code, "nothing-to-draw");
  EXPECT_THAT(svg.error().expected, HasSubstr("--prices"));
}

}  // namespace
}  // namespace perfcast::place
