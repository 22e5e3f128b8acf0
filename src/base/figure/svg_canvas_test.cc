#include "base/figure/svg_canvas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(EscapeHtml, LeavesNothingThatAPageWouldRead) {
  EXPECT_EQ(escape_html("a < b & \"c\" > 'd'"), "a &lt; b &amp; &quot;c&quot; &gt; &#39;d&#39;");
  EXPECT_EQ(escape_html("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;");
  EXPECT_EQ(escape_html("Grüße €"), "Grüße €");
}

TEST(EscapeHtml, MakesBytesThatAreNoTextVisible) {
  EXPECT_EQ(escape_html(std::string_view("a\0b\x1b[31m\nc", 9)), "a?b?[31m ");
  EXPECT_EQ(escape_html("a\xff\xc3"), "a\uFFFD\uFFFD");          // no lead byte; a sequence cut short
  EXPECT_EQ(escape_html("\xc0\xbc"), "\uFFFD\uFFFD");            // '<' in two bytes
  EXPECT_EQ(escape_html("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // half a surrogate pair
}

TEST(SvgCanvas, NamesItselfForAScreenReader) {
  const SvgCanvas canvas("fig-x", 100, 50.25, "A & B", "two <things>");
  const std::string svg = canvas.to_svg();
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 100 50.2\""));
  EXPECT_THAT(svg, HasSubstr("aria-labelledby=\"fig-x-title fig-x-desc\""));
  EXPECT_THAT(svg, HasSubstr("<title id=\"fig-x-title\">A &amp; B</title>"));
  EXPECT_THAT(svg, HasSubstr("two &lt;things&gt;"));
}

TEST(SvgCanvas, DrawsWithClassesAndTooltips) {
  SvgCanvas canvas("f", 10, 10, "t", "d");
  canvas.line(0, 1.04, 2.25, -0.01, "grid");
  canvas.rectangle(1, 2, 3, 4, "s0 fill", "5 < 6");
  canvas.polyline({{0, 0}, {1.5, 2}}, "curve");
  canvas.text(1, 2, "<b>", "row", "end", "tip");
  const std::string svg = canvas.to_svg();
  EXPECT_THAT(svg, HasSubstr("<line x1=\"0\" y1=\"1\" x2=\"2.2\" y2=\"0\" class=\"grid\"/>"));
  EXPECT_THAT(svg, HasSubstr("class=\"s0 fill\"><title>5 &lt; 6</title></rect>"));
  EXPECT_THAT(svg, HasSubstr("<polyline points=\"0,0 1.5,2\" class=\"curve\"/>"));
  EXPECT_THAT(svg, HasSubstr("text-anchor=\"end\" class=\"row\"><title>tip</title>&lt;b&gt;</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
}

TEST(SvgCanvas, EveryMarkerHasAShapeOfItsOwn) {
  std::vector<std::string> shapes;
  for (const Marker marker :
       {Marker::kCircle, Marker::kDiamond, Marker::kSquare, Marker::kTriangle, Marker::kCross, Marker::kPlus}) {
    SvgCanvas canvas("f", 10, 10, "t", "d");
    canvas.marker(marker, 5, 5, 2, "s0");
    EXPECT_EQ(std::count(shapes.begin(), shapes.end(), canvas.to_svg()), 0);
    shapes.push_back(canvas.to_svg());
  }
}

TEST(SvgCanvas, TextRisesAlongALine) {
  SvgCanvas canvas("a", 10, 10, "", "");
  canvas.rising_text(3, 4, 45, "<up>", "tick");
  EXPECT_NE(canvas.to_svg().find("<text transform=\"translate(3 4) rotate(-45)\" class=\"tick\">&lt;up&gt;</text>"),
            std::string::npos);
}

}  // namespace
}  // namespace perfcast
