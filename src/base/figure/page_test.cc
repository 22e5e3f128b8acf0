#include "base/figure/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/figure/testing/markup.h"

namespace perfcast {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Unbalanced, CanFail) {
  EXPECT_EQ(unbalanced("<!doctype html><p class=\"a\">x<br/></p>"), "");
  EXPECT_NE(unbalanced("<p><b></p></b>"), "");
  EXPECT_NE(unbalanced("<p>"), "");
  EXPECT_NE(unbalanced("<p class=\"a></p>"), "");
}

Page small() {
  Page page;
  page.title = "a < b";
  page.lead = "the <lead>";
  page.facts_html = "<dl><dt>x</dt><dd>1</dd></dl>\n";
  page.sections = {{"scores", "Scores & more", "<p>text</p>\n"}};
  page.figures = {{"bars", "Bars <1>", "a & b", {"<svg></svg>\n"}, "x,y\n1,\"2,5\"\n"},
                  {"lines", "Lines", "no data, no <lines>", {}, ""}};
  return page;
}

TEST(HtmlPage, EscapesTextAndTakesHtmlAsItIs) {
  const std::string html = html_page(small());
  EXPECT_EQ(unbalanced(html), "");
  EXPECT_THAT(html, HasSubstr("<title>a &lt; b</title>"));
  EXPECT_THAT(html, HasSubstr("<p class=\"lead\">the &lt;lead&gt;</p>\n<dl><dt>x</dt>"));
  EXPECT_THAT(html, HasSubstr("<section id=\"scores\">\n<h2>Scores &amp; more</h2>\n<p>text</p>\n</section>"));
  EXPECT_THAT(html, HasSubstr("<a href=\"#scores\">Scores &amp; more</a><a href=\"#bars\">1. Bars &lt;1&gt;</a>"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
}

TEST(HtmlPage, FiguresCarryTheirDataOrSayWhyThereIsNone) {
  const std::string html = html_page(small());
  EXPECT_THAT(html, HasSubstr("<a class=\"csv\" download=\"perfcast-bars.csv\" "
                              "href=\"data:text/csv;charset=utf-8,x,y%0A1,%222,5%22%0A\">CSV</a>"));
  EXPECT_THAT(html, HasSubstr("<figcaption class=\"empty\">no data, no &lt;lines&gt;</figcaption>"));
  EXPECT_THAT(html, Not(HasSubstr("perfcast-lines.csv")));
}

TEST(HtmlPage, AddsStyleAndPatternsOnlyWhereAskedTo) {
  Page page = small();
  const std::string plain = html_page(page);
  page.style = ".mine{color:red}";
  page.hidden_svg = "<svg id=\"patterns\"></svg>\n";
  const std::string html = html_page(page);
  EXPECT_EQ(html.size(), plain.size() + page.style.size() + page.hidden_svg.size());
  EXPECT_THAT(html, HasSubstr(".mine{color:red}</style>"));
  EXPECT_THAT(html, HasSubstr("<body>\n<svg id=\"patterns\"></svg>\n<header>"));
}

TEST(StandaloneSvg, HasColoursThatEveryViewerKnows) {
  const std::string svg = standalone_svg("<svg id=\"a\"><path class=\"s1 fill\"/></svg>");
  EXPECT_EQ(unbalanced(svg), "");
  EXPECT_THAT(svg, HasSubstr("\n.s0{color:#0072b2}.s1{color:#c44e00}"));
  EXPECT_THAT(svg, HasSubstr("\nsvg .fill{fill:currentColor;stroke:currentColor;stroke-width:.8}\n"));
  EXPECT_THAT(svg, HasSubstr("\nsvg .hollow{fill:#fff;stroke:currentColor;stroke-width:1.5}\n"));
  EXPECT_THAT(svg, HasSubstr("svg .axis{stroke:#57606a}"));
  EXPECT_THAT(svg, Not(HasSubstr("--")));
  EXPECT_THAT(svg, Not(HasSubstr("body{")));
}

}  // namespace
}  // namespace perfcast
