#include "base/report/table.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "base/json.h"

namespace perfcast {
namespace {

struct Machine {
  std::string name;
  double time_s;
  std::optional<double> joules;
  bool fits;
};

ReportTable machines(const std::vector<Machine>& rows) {
  return table_of<Machine>(
      "Machines", rows,
      {{"device", "device", Quantity::kText, [](const Machine& row) { return row.name; }},
       {"time_s", "time", Quantity::kSeconds, [](const Machine& row) { return row.time_s; }},
       {"", "90% interval", Quantity::kSeconds,
        [](const Machine& row) {
          return ReportValue(ValueRange{row.time_s / 2, row.time_s * 2});
        }},
       {"energy.joules", "energy", Quantity::kJoules, [](const Machine& row) { return row.joules; }},
       {"fits", "fits", Quantity::kYes, [](const Machine& row) { return row.fits; }},
       {"rank_count", "", Quantity::kCount, [](const Machine&) { return 7; }}});
}

TEST(ReportTable, OneDeclarationIsWrittenInEveryForm) {
  const ReportTable table = machines({{"fast | one", 0.5, 12.5, true}, {"slow", NAN, std::nullopt, false}});
  EXPECT_EQ(rows_json(table).dump(),
            R"([{"device":"fast | one","time_s":0.5,"energy":{"joules":12.5},"fits":true,"rank_count":7},)"
            R"({"device":"slow","fits":false,"rank_count":7}])");
  EXPECT_EQ(rows_csv(table),
            "device,time_s,energy.joules,fits,rank_count\n"
            "fast | one,0.5,12.5,1,7\n"
            "slow,,,0,7\n");
  EXPECT_EQ(rows_text(table),
            "device        time        90% interval  energy  fits\n"
            "fast | one  500 ms  0.250 s .. 1.000 s  12.5 J  yes\n"
            "slow             -                   -       -  no\n");
  EXPECT_THAT(rows_text(table, {.is_markdown = true}), testing::StartsWith("| device | time |"));
  EXPECT_THAT(rows_html(table), testing::HasSubstr("<td class=\"name\">fast | one</td><td>"));
}

TEST(ReportTable, AColumnThatNoRowKnowsIsLeftOutForPeople) {
  const ReportTable table = machines({{"a", 1, std::nullopt, true}});
  EXPECT_THAT(rows_text(table), testing::Not(testing::HasSubstr("energy")));
  EXPECT_THAT(rows_csv(table), testing::HasSubstr("energy.joules"));
}

TEST(ReportTable, ShowsWhatNobodyKnowsWhereAskedAndSetsBaselinesOff) {
  ReportTable table = machines({{"a", 1.0 / 3, std::nullopt, true}});
  table.columns.push_back({"", " ", Quantity::kNumber, 0, "", {"2.5x"}});
  table.columns.push_back({"", "note", Quantity::kText, 0, "", {""}});
  EXPECT_THAT(rows_text(table), testing::StartsWith("device    time      90% interval  fits\n"));
  EXPECT_THAT(rows_html(table), testing::HasSubstr("<tr><td class=\"name\">a"));
  table.shows_unknown = true;
  table.baselines = {"a"};
  EXPECT_THAT(rows_text(table), testing::HasSubstr("energy"));
  EXPECT_THAT(rows_html(table), testing::HasSubstr("<tr class=\"baseline\"><td class=\"name\">a"));
  EXPECT_EQ(rows_csv(table, {3, "yes", "no"}), "device,time_s,energy.joules,fits,rank_count\na,0.333,,yes,7\n");
}

TEST(ReportTable, ColumnsArePickedAndPeopleReadOtherWords) {
  const std::vector<Machine> rows = {{"a", 2, 5, true}, {"b", 4, 6, false}};
  const auto table = table_of<Machine>("", rows,
                                       {{"name", "name", Quantity::kText, &Machine::name},
                                        {"fits", "fits", Quantity::kYes, &Machine::fits,
                                         [](const Machine& row) { return row.fits ? "yes" : "1 GiB short"; }},
                                        {"", "gain", Quantity::kNumber, [](const Machine&) { return "2.5x"; }},
                                        {"time_s", "", Quantity::kSeconds, &Machine::time_s}});
  EXPECT_EQ(rows_text(picked(table, {"gain", "name", "fits"})),
            "gain  name  fits\n"
            "2.5x  a     yes\n"
            "2.5x  b     1 GiB short\n");
  EXPECT_EQ(rows_csv(picked(table, {"time_s", "fits"}), {.digits = 3}), "time_s,fits\n2,1\n4,0\n");
}

TEST(ReportTable, IntervalsStandInTheUnitOfTheirValues) {
  ReportTable table = machines({{"a", 1.5, std::nullopt, true}, {"b", 0.75, std::nullopt, true}});
  share_unit(table, "time_s");
  EXPECT_EQ(rows_text(table),
            "device     time      90% interval  fits\n"
            "a       1.500 s  0.750 .. 3.000 s  yes\n"
            "b       0.750 s  0.375 .. 1.500 s  yes\n");
  keep_rows(table, {1});
  EXPECT_EQ(rows_text(table),
            "device     time      90% interval  fits\n"
            "b       0.750 s  0.375 .. 1.500 s  yes\n");
}

TEST(ReportTable, NullIsOneForMachinesAndNothingForPeople) {
  const ReportTable table{"", {{"basis", "basis", Quantity::kText, 0, "", {nullptr, "fitted", unless_empty("")}}}};
  EXPECT_EQ(rows_json(table).dump(), R"([{"basis":null},{"basis":"fitted"},{}])");
  EXPECT_EQ(rows_csv(table), "basis\n\nfitted\n\n");
  EXPECT_EQ(rows_text(table), "basis\n-\nfitted\n-\n");
}

TEST(ReportTable, WhatIsInfiniteIsNotKnown) {
  const ReportTable table{"",
                          {{"time_s", "time", Quantity::kNumber, 1, "", {0.5, INFINITY, -INFINITY, NAN}},
                           {"interval_s",
                            "interval",
                            Quantity::kNumber,
                            1,
                            "",
                            {ValueRange{0.25, 1}, ValueRange{0.25, INFINITY}, ValueRange{-INFINITY, 1}, NAN}}}};
  EXPECT_EQ(rows_json(table).dump(), R"([{"time_s":0.5,"interval_s":[0.25,1.0]},{},{},{}])");
  EXPECT_EQ(rows_csv(table), "time_s,interval_s\n0.5,0.25 1\n,\n,\n,\n");
  EXPECT_EQ(rows_text(table),
            "time    interval\n"
            " 0.5  0.2 .. 1.0\n"
            "   -           -\n"
            "   -           -\n"
            "   -           -\n");
}

TEST(ReportTable, CountsAreExactUpToTheLargest) {
  const ReportTable table{
      "",
      {{"seed", "seed", Quantity::kCount, 0, "", {INT64_MIN, INT64_MAX, UINT64_C(9223372036854775808), UINT64_MAX}}}};
  EXPECT_EQ(rows_json(table).dump(),
            R"([{"seed":-9223372036854775808},{"seed":9223372036854775807},{"seed":9223372036854775808},)"
            R"({"seed":18446744073709551615}])");
  EXPECT_EQ(rows_csv(table),
            "seed\n-9223372036854775808\n9223372036854775807\n9223372036854775808\n18446744073709551615\n");
  EXPECT_EQ(ReportValue(UINT64_MAX).number(), 18446744073709551616.0);
}

TEST(ReportTable, AUnitIsSharedOnlyWithAColumnThatIsThere) {
  ReportTable table = machines({{"a", 1.5, std::nullopt, true}});
  EXPECT_THROW(share_unit(table, "rank_count"), std::logic_error);
  EXPECT_THROW(share_unit(table, "weight"), std::logic_error);
}

TEST(ReportTable, FurtherRowsAreCounted) {
  const ReportTable table = machines({{"a", 1, 1, true}, {"b", 2, 2, true}, {"c", 3, 3, true}});
  EXPECT_THAT(rows_text(table, {.most_rows = 1}), testing::EndsWith("... 2 rows more: --all\n"));
}

TEST(ReportTable, NumbersAsPeopleReadThem) {
  EXPECT_EQ(percent(0.125), "12.5%");
  EXPECT_EQ(percent(1, 0), "100%");
  EXPECT_EQ(percent(NAN), "-");
  EXPECT_EQ(money_text(0.000027), "0.0000270");
  EXPECT_EQ(money_text(1234.5), "1234.50");
  EXPECT_EQ(money_text(-1234.5), "-1234.50");
  EXPECT_EQ(money_text(-0.000027), "-0.0000270");
  EXPECT_EQ(money_text(-0.0), "0");
  EXPECT_EQ(money_text(-INFINITY), "-");
  const ReportColumn lists{"names", "names", Quantity::kText, 0, {}, {std::vector<std::string>{"a", "b"}}};
  EXPECT_THAT(cells_for_people(lists), testing::ElementsAre("a, b"));
  EXPECT_EQ(rows_json({"", {lists}}).dump(), R"([{"names":["a","b"]}])");
  EXPECT_EQ(rows_csv({"", {lists}}), "names\n\"a, b\"\n");
  const ReportColumn column{"share_ratio", "share", Quantity::kShare, 0, {}, {0.5, 1, std::optional<double>()}};
  EXPECT_THAT(cells_for_people(column), testing::ElementsAre("50%", "100%", "-"));
}

}  // namespace
}  // namespace perfcast
