#include "base/figure/svg_axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace perfcast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Scale, MapsItsEndsAndKeepsInside) {
  const Scale linear = Scale::linear(0, 4, 100, 200);
  EXPECT_DOUBLE_EQ(linear.at(1), 125);
  EXPECT_DOUBLE_EQ(linear.at(9), 200);
  const Scale up = Scale::linear(0, 1, 300, 100);  // y axes grow upwards
  EXPECT_DOUBLE_EQ(up.at(0.25), 250);
  const Scale logs = Scale::logarithmic(0.25, 4, 0, 100);
  EXPECT_DOUBLE_EQ(logs.at(1), 50);
  EXPECT_DOUBLE_EQ(logs.at(0), 0);
  EXPECT_DOUBLE_EQ(logs.at(std::numeric_limits<double>::infinity()), 100);
  EXPECT_DOUBLE_EQ(logs.at(std::nan("")), 0);
}

TEST(Scale, TicksAreRoundAndInside) {
  EXPECT_THAT(Scale::linear(0, 1, 0, 500).ticks(), testing::SizeIs(6));
  EXPECT_THAT(Scale::logarithmic(0.1, 10, 0, 300).ticks(),
              ElementsAre(testing::DoubleEq(0.1), testing::DoubleEq(1), testing::DoubleEq(10)));
  for (const auto& [low, high] : {std::pair{0.9, 1.2}, {0.3, 14.0}, {1e-6, 1e6}, {0.99, 1.0}, {5.0, 5.0}}) {
    for (const Scale& scale : {Scale::linear(low, high, 0, 700), Scale::logarithmic(low, high, 0, 700)}) {
      const auto ticks = scale.ticks();
      EXPECT_GE(ticks.size(), 3u) << low;
      EXPECT_LE(ticks.size(), 16u) << low;
      for (size_t i = 1; i < ticks.size(); ++i) EXPECT_LT(scale.at(ticks[i - 1]), scale.at(ticks[i]));
    }
  }
}

TEST(Axes, LabelStandsBesideTheLongestNumber) {
  const auto drawn = [](NumberText number) {
    SvgCanvas canvas("axes", 400, 200, "title", "description");
    draw_y_axis(canvas, Scale::linear(0, 1, 180, 20), 84, 380, "cost", number);
    return canvas.to_svg();
  };
  EXPECT_THAT(drawn([](double) { return std::string("0.5"); }), HasSubstr("translate(38 100) rotate"));
  EXPECT_THAT(drawn([](double) { return std::string("0.0015"); }), HasSubstr("translate(29.4 100) rotate"));
  // Not over the edge.
  EXPECT_THAT(drawn([](double) { return std::string("0.00000000015"); }), HasSubstr("translate(11 100) rotate"));
}

TEST(Scale, OfNonsenseStillDraws) {
  const Scale scale = Scale::logarithmic(0, std::numeric_limits<double>::infinity(), 0, 100);
  EXPECT_DOUBLE_EQ(scale.at(1), 50);
  EXPECT_LE(scale.ticks().size(), 30u);
}

TEST(NumberText, HasTheDigitsAReaderTakesIn) {
  EXPECT_EQ(ratio_text(0.5), "0.5");
  EXPECT_EQ(ratio_text(1), "1");
  EXPECT_EQ(ratio_text(1.2345), "1.23");
  EXPECT_EQ(ratio_text(0.01234), "0.0123");
  EXPECT_EQ(ratio_text(12.345), "12.3");
  EXPECT_EQ(ratio_text(1500), "1500");
  EXPECT_EQ(ratio_text(-0.00001), "0");
  EXPECT_EQ(ratio_text(std::nan("")), "-");
  EXPECT_EQ(percent_text(0.12345), "12.3%");
  EXPECT_EQ(whole_percent_text(0.1 * 3), "30%");
  EXPECT_EQ(whole_percent_text(0.025), "2.5%");
}

TEST(Fitted, KeepsBothEnds) {
  EXPECT_EQ(fitted("short", 100, 10), "short");
  const std::string text = fitted("Intel Xeon Platinum 8259CL CPU @ 2.50GHz", 100, 10);
  EXPECT_LE(text_width(text, 10), 100);
  EXPECT_TRUE(text.starts_with("Intel")) << text;
  EXPECT_TRUE(text.ends_with("GHz")) << text;
  EXPECT_EQ(fitted("ÄÖÜäöüßÄÖÜäöüß", 30, 10), "ÄÖ…üß");
}

TEST(Legend, WrapsWithinItsWidth) {
  SvgCanvas canvas("f", 200, 100, "t", "d");
  const LegendEntry entry{LegendEntry::Kind::kMarker, Marker::kCircle, "s0", "a model of some name"};
  EXPECT_EQ(draw_legend(canvas, 0, 200, 10, {entry, entry, entry}), 10 + 3 * 19);
  EXPECT_EQ(draw_legend(canvas, 0, 2000, 10, {entry, entry, entry}), 10 + 19);
}

TEST(Axis, LeavesOutNumbersThatWouldTouch) {
  SvgCanvas canvas("f", 60, 100, "t", "d");
  draw_x_axis(canvas, Scale::linear(0, 100000, 0, 40), 0, 50, "label & unit", ratio_text);
  const std::string svg = canvas.to_svg();
  EXPECT_THAT(svg, HasSubstr("label &amp; unit"));
  size_t numbers = 0;
  for (size_t at = svg.find("class=\"tick\""); at != std::string::npos; at = svg.find("class=\"tick\"", at + 1))
    ++numbers;
  EXPECT_LE(numbers, 2u);
}

TEST(SpreadLabels, KeepsOrderAndDistance) {
  EXPECT_EQ(spread_labels({10, 40, 90}, 0, 100, 12), (std::vector<double>{10, 40, 90}));
  EXPECT_EQ(spread_labels({10, 11, 30}, 0, 100, 12), (std::vector<double>{10, 22, 34}));
  EXPECT_EQ(spread_labels({80, 95, 99}, 0, 100, 12), (std::vector<double>{76, 88, 100}));
  EXPECT_TRUE(spread_labels({}, 0, 100, 12).empty());
}

}  // namespace
}  // namespace perfcast
