#include "measure/watch/stream_page.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/unknown.h"

namespace perfcast::measure {
namespace {

// Rows a minute apart, of two metrics; the second is absent in every other row.
void add_rows(StreamPage& page, RowBlock& block, size_t rows) {
  const size_t group = block.group("");
  const size_t cpu = block.column("cpu");
  const size_t memory = block.column("memory <gb>");
  for (size_t r = 0; r < rows; ++r) {
    block.begin_row();
    block.set(cpu, static_cast<double>(r % 100));
    block.set(memory, r % 2 == 0 ? 8 : kUnknown);
    block.end_row(1764144000 + 60.0 * static_cast<double>(r), group);
  }
  page.add_rows(block);
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(StreamPage, DrawsTheMetricsThatAlertsNamed) {
  StreamPage page;
  RowBlock block(10, 10);
  add_rows(page, block, 5000);
  Alert alert;
  alert.id = 1;
  alert.since_s = alert.time_s = 1764144000 + 6000;
  alert.severity = Severity::kMajor;
  alert.metrics = {{0, 1, 99, 50}};
  page.add_alert(alert, block.names());
  alert.state = AlertState::kClosed;
  alert.duration_s = 600;
  page.add_alert(alert, block.names());
  const std::string html = page.to_html("rows.csv", {"5000 rows of 2 metrics"});
  EXPECT_EQ(count(html, "<svg"), 1u);
  EXPECT_EQ(count(html, "class=\"incident major\""), 1u);
  // 5,000 rows in stretches of eight.
  EXPECT_EQ(count(html, "class=\"range\""), 625u);
  EXPECT_EQ(count(html, "1 incident was found"), 1u);
  EXPECT_EQ(html.find("memory"), std::string::npos);
  EXPECT_EQ(html, page.to_html("rows.csv", {"5000 rows of 2 metrics"}));
}

TEST(StreamPage, DrawsAllMetricsWhereNothingWasUnusual) {
  StreamPage page;
  RowBlock block(10, 10);
  add_rows(page, block, 20);
  const std::string html = page.to_html("rows.csv", {});
  EXPECT_EQ(count(html, "<svg"), 2u);
  EXPECT_EQ(count(html, "Nothing unusual was found."), 1u);
  EXPECT_EQ(html.find("memory <gb>"), std::string::npos);  // escaped
  // 20 rows of the first metric, 10 of the second.
  EXPECT_EQ(count(html, "class=\"range\""), 30u);
}

}  // namespace
}  // namespace perfcast::measure
