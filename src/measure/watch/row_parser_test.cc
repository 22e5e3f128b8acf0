#include "measure/watch/row_parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/random.h"
#include "measure/watch/fast_number.h"
#include "measure/watch/line_splitter.h"
#include "measure/watch/prometheus.h"
#include "measure/watch/row_time.h"

namespace perfcast::measure {
namespace {

RowBlock parse(const std::vector<std::string>& lines, const ParserOptions& options = {}) {
  RowBlock block(10, 4);
  auto parser = make_parser(options, lines.front());
  for (const std::string& line : lines) EXPECT_TRUE(parser->line(line, block).ok());
  return block;
}

TEST(CsvRows, TakesMetricsTimesAndGroups) {
  const RowBlock block =
      parse({"time_s,machine,a,note,b", "10,x,1.5,hello,-2e3", "12,\"y\",,\"a,b\",7"}, {.group_column = "machine"});
  ASSERT_EQ(block.rows(), 2u);
  EXPECT_EQ(block.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(block.group_names(), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(block.time_s(), (std::vector<double>{10, 12}));
  EXPECT_EQ(block.row(0)[1], -2000);
  EXPECT_TRUE(std::isnan(block.row(1)[0]));
  EXPECT_EQ(block.row(1)[1], 7);
  EXPECT_EQ(block.counts.absent_cells, 1u);
}

TEST(JsonRows, TakeTheBestTimeThatCanBeRead) {
  // Whichever stands first: the unit, too, is that of the column that is taken.
  const RowBlock block = parse({R"({"time":1767322800000,"a":1,"time_s":1767322800})",
                                R"({"time_s":1767322801,"a":1,"timestamp":"2026-01-02T00:00:00Z"})",
                                R"({"time_s":null,"a":1,"timestamp":1767322802})",
                                R"({"time_s":"soon","time":1767322803,"a":1})", R"({"time_s":"","a":1})"});
  EXPECT_EQ(block.time_s(), (std::vector<double>{1767322800, 1767322801, 1767322802, 1767322803, 1767322803}));
  EXPECT_EQ(block.counts.untimed_rows, 1u);
  EXPECT_EQ(block.names(), std::vector<std::string>{"a"});
}

TEST(JsonRows, MissAColumnOfTimesThatWasNamed) {
  const RowBlock block = parse({R"({"a":1})", R"({"a":2,"time_s":5})"}, {.time_column = "when"});
  EXPECT_EQ(block.counts.untimed_rows, 2u);
  EXPECT_EQ(block.counts.assumed_times, 0u);
  EXPECT_EQ(parse({R"({"a":1})", R"({"a":2})"}).counts.assumed_times, 2u);
}

TEST(Rows, NoteColumnsOfTextOnce) {
  const RowBlock csv = parse({",host,late,a", "x,u,soon,1", "y,v,2,1", "z,w,3,1"});
  EXPECT_EQ(csv.text_names(), std::vector<std::string>{"host"});
  EXPECT_EQ(csv.text_columns(), 1u);
  const std::string long_name(100000, 'n');
  const RowBlock json = parse({"{\"a\":1,\"" + long_name + "\":\"t\"}", "{\"" + long_name + "\":\"t\",\"a\":2}"});
  EXPECT_EQ(json.text_columns(), 1u);
  EXPECT_LT(json.text_names().at(0).size(), 100u);
}

TEST(Rows, CountIgnoredColumnsOnce) {
  std::string names = "time_s", first = "1", second = "2";
  for (int i = 0; i < 13; ++i) {
    names += ",m" + std::to_string(i);
    first += ",1";
    second += ",2";
  }
  EXPECT_EQ(parse({names, first, second}).counts.ignored_columns, 3u);  // beyond ten
}

TEST(CsvRows, CountsWhatIsNotAsItShouldBe) {
  const RowBlock block =
      parse({"time,a,b", "1,2,3", "2,nan,x", "3,4", "4,5,6,7", "soon,1,1", std::string("\0\1", 2), "garbage"});
  EXPECT_EQ(block.rows(), 5u);
  EXPECT_EQ(block.counts.absent_cells, 1u);
  EXPECT_EQ(block.counts.bad_cells, 1u);
  EXPECT_EQ(block.counts.short_rows, 1u);
  EXPECT_EQ(block.counts.long_rows, 1u);
  EXPECT_EQ(block.counts.untimed_rows, 1u);
  EXPECT_EQ(block.counts.bad_lines, 2u);
  EXPECT_EQ(block.time_s().back(), 4);
}

TEST(CsvRows, RefusesHeadersWithoutTheColumnsThatWereNamed) {
  RowBlock block(10, 4);
  EXPECT_EQ(make_csv_parser({.time_column = "when"})->line("time,a", block).error().code, "missing-column");
  EXPECT_EQ(make_csv_parser({})->line("a,b,a", block).error().code, "duplicate-column");
}

TEST(JsonRows, TakesFlatAndNestedObjects) {
  const RowBlock block =
      parse({R"({"timestamp":"2026-01-02T03:04:05Z","a":1,"b":{"c":2.5,"d":[1,{"x":2}]},"e":null,"f":true,"g":"4"})",
             R"({"timestamp":"2026-01-02T03:04:06Z","b":{"c":3},"a":-1e2, "\u0068":5})"});
  ASSERT_EQ(block.rows(), 2u);
  EXPECT_EQ(block.names(), (std::vector<std::string>{"a", "b.c", "f", "g", "h"}));
  EXPECT_EQ(block.time_s()[1] - block.time_s()[0], 1);
  EXPECT_EQ(block.row(0)[1], 2.5);
  EXPECT_EQ(block.row(1)[0], -100);
  EXPECT_TRUE(std::isnan(block.row(1)[2]));
  EXPECT_EQ(block.row(1)[4], 5);
}

TEST(JsonRows, LeavesOutWhatIsNoObject) {
  const RowBlock block =
      parse({R"({"a":1})", "[1]", R"({"a":01})", R"({"a":1.})", R"({"a":1}x)", R"({"a")", R"({"a":2})"});
  EXPECT_EQ(block.rows(), 2u);
  EXPECT_EQ(block.counts.bad_lines, 5u);
  EXPECT_EQ(block.time_s(), (std::vector<double>{0, 1}));  // no times: rows a second apart
}

TEST(RowBlock, BoundsColumnsAndGroups) {
  RowBlock block(2, 1);
  auto parser = make_json_parser({.group_column = "g"});
  EXPECT_TRUE(parser->line(R"({"g":"x","a":1,"b":2,"c":3})", block).ok());
  EXPECT_TRUE(parser->line(R"({"g":"y","a":1})", block).ok());
  EXPECT_EQ(block.rows(), 1u);
  EXPECT_EQ(block.counts.ignored_columns, 1u);
  EXPECT_EQ(block.counts.ignored_groups, 1u);
}

TEST(FastNumber, HasTheBitsOfFromChars) {
  Random random(3);
  for (int i = 0; i < 20000; ++i) {
    char text[64];
    const double number = std::ldexp(random.uniform() - 0.5, static_cast<int>(random.below(160)) - 80);
    std::snprintf(text, sizeof(text), i % 3 == 0 ? "%.17g" : i % 3 == 1 ? "%.6g" : "%.3f", number);
    double fast = 0;
    double exact = 0;
    ASSERT_EQ(read_number(text, text + std::strlen(text), fast), text + std::strlen(text)) << text;
    std::from_chars(text, text + std::strlen(text), exact);
    ASSERT_EQ(fast, exact) << text;
  }
  double value = 0;
  EXPECT_TRUE(is_number(" +4.5e1 ", value));
  EXPECT_EQ(value, 45);
  for (const char* text : {"", "-", "+-1", "1x", "e5", "."}) EXPECT_FALSE(is_number(text, value)) << text;
}

TEST(RowTime, ReadsIsoTimes) {
  EXPECT_EQ(iso_time_s("1970-01-02"), 86400);
  EXPECT_EQ(iso_time_s("2026-01-02T03:04:05Z"), 1767323045);
  EXPECT_EQ(iso_time_s("2026-01-02 04:04:05.5+01:00"), 1767323045.5);
  EXPECT_EQ(iso_time_s("2026-13-02"), std::nullopt);
  EXPECT_EQ(iso_time_s("2026-01-02T03:04:05Zx"), std::nullopt);
  EXPECT_EQ(time_unit_s(1767323045), 1);
  EXPECT_EQ(time_unit_s(1767323045000), 1e-3);
}

TEST(LineSplitter, JoinsPiecesAndDropsWhatIsTooLong) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  const auto take = [&](std::string_view line) {
    lines.emplace_back(line);
    return true;
  };
  splitter.feed("a\nb", take);
  splitter.feed("c\n", take);
  splitter.feed(std::string(LineSplitter::kMostLine_bytes + 1, 'x'), take);
  splitter.feed("y\nd", take);
  splitter.finish(take);
  EXPECT_EQ(lines, (std::vector<std::string>{"a", "bc", "d"}));
  EXPECT_EQ(splitter.long_lines(), 1u);
}

TEST(Prometheus, MakesCountersRates) {
  PrometheusReader reader;
  RowBlock block(10, 1);
  const char* const format =
      "# TYPE c counter\nc{a=\"x } y\"} %s\nfree 5 1700000000000\n# TYPE h histogram\nh_sum 3\nbroken line here\n";
  for (const auto& [time_s, value] : {std::pair{10.0, "100"}, {20.0, "150"}, {30.0, "20"}}) {
    char text[256];
    std::snprintf(text, sizeof(text), format, value);
    ASSERT_TRUE(reader.take(text, time_s, block).ok());
  }
  EXPECT_EQ(block.names(), (std::vector<std::string>{"c{a=\"x } y\"}", "free", "h_sum"}));
  EXPECT_TRUE(std::isnan(block.row(0)[0]));
  EXPECT_EQ(block.row(1)[0], 5);
  EXPECT_EQ(block.row(2)[0], 2);
  EXPECT_EQ(block.row(2)[2], 0);
  EXPECT_EQ(block.counts.counter_resets, 1u);
  EXPECT_EQ(block.counts.bad_lines, 3u);
  EXPECT_EQ(reader.take("<html>", 40, block).error().code, "bad-exposition");
}

}  // namespace
}  // namespace perfcast::measure
