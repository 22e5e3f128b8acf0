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

// Families, endings, exemplars, times and units as OpenMetrics has them.
TEST(Prometheus, ReadsOpenMetrics) {
  PrometheusReader reader;
  RowBlock block(20, 1);
  const char* const format =
      "# TYPE http_requests counter\n# UNIT http_requests requests\n# HELP http_requests of all kinds\n"
      "http_requests_total{code=\"200\"} %d # {trace_id=\"a } # b\"} 0.67 1520879607.789\n"
      "http_requests_created{code=\"200\"} 1520430000.123\n"
      "# TYPE wait_seconds histogram\nwait_seconds_bucket{le=\"+Inf\"} %d 1700000000.5 # {} 3\nwait_seconds_sum %d\n"
      "# TYPE pool gaugehistogram\npool_bucket{le=\"1\"} %d\npool_gcount %d\n"
      "# TYPE mode stateset\nmode{mode=\"on\"} 1\n{\"disk.free\", disk=\"a\"} %d\n# EOF\n";
  for (const auto& [time_s, value] : {std::pair{10.0, 100}, {20.0, 150}}) {
    char text[1024];
    std::snprintf(text, sizeof(text), format, value, value, value, value, value, value);
    ASSERT_TRUE(reader.take(text, time_s, block).ok());
  }
  EXPECT_EQ(block.names(),
            (std::vector<std::string>{"http_requests_total{code=\"200\"}", "wait_seconds_bucket{le=\"+Inf\"}",
                                      "wait_seconds_sum", "pool_bucket{le=\"1\"}", "pool_gcount", "mode{mode=\"on\"}",
                                      "{\"disk.free\", disk=\"a\"}"}));
  EXPECT_EQ(block.row(1)[0], 5);
  EXPECT_TRUE(std::isnan(block.row(1)[1]));  // its own time says that it is the sample of before
  EXPECT_EQ(block.row(1)[2], 5);
  EXPECT_EQ(block.row(1)[3], 150);
  EXPECT_EQ(block.row(1)[4], 150);
  EXPECT_EQ(block.row(1)[6], 150);
  EXPECT_EQ(block.counts.bad_lines, 0u);
}

TEST(Prometheus, RatesFollowTheSamplesOwnTimes) {
  PrometheusReader reader;
  RowBlock block(5, 1);
  ASSERT_TRUE(reader.take("# TYPE c counter\nc_total 100 1700000000000\n", 10, block).ok());
  ASSERT_TRUE(reader.take("# TYPE c counter\nc_total 160 1700000030000\n", 20, block).ok());
  ASSERT_TRUE(reader.take("# TYPE c counter\nc_total 160 1700000030000\n", 30, block).ok());
  ASSERT_TRUE(reader.take("# TYPE c counter\nc_total 220 1700000060\n", 40, block).ok());
  EXPECT_EQ(block.row(1)[0], 2);
  EXPECT_TRUE(std::isnan(block.row(2)[0]));
  EXPECT_EQ(block.row(3)[0], 2);
}

// Blanks, tabs, labels' order and times of either format change nothing.
TEST(Prometheus, ReadsEveryWritingOfASampleAlike) {
  for (const char* name : {"a_b:c", "up"}) {
    for (const char* labels : {"", "{}", "{a=\"b\"}", "{a=\"#\",b=\"}\\\"\"}"}) {
      for (const char* before : {" ", "\t", "  "}) {
        for (const char* value : {"1.5", "+1.5", "15e-1"}) {
          for (const char* stamp : {"", " 1700000000", " 1700000000000", " 1700000000.0"}) {
            for (const char* exemplar : {"", " # {a=\"b\"} 3", " # {} 3 1.5"}) {
              const std::string line = std::string(name) + labels + before + value + stamp + exemplar;
              const auto sample = parse_sample(line);
              ASSERT_TRUE(sample.has_value()) << line;
              EXPECT_EQ(sample->name, name);
              EXPECT_EQ(sample->series, std::string(name) + labels);
              EXPECT_EQ(sample->value, 1.5);
              EXPECT_EQ(sample->stamp_s.has_value(), *stamp != 0);
              EXPECT_EQ(sample->stamp_s.value_or(1700000000), 1700000000);
            }
          }
        }
      }
    }
  }
  for (const char* bad : {"", "{} 1", "1a 2", "a", "a{b 1", "a b", "a 1 b", "a{b=\"c\"}"}) {
    EXPECT_FALSE(parse_sample(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace perfcast::measure
