#include "measure/compare/session_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/json.h"

namespace perfcast::measure {
namespace {

using testing::HasSubstr;

SessionComparison two() {
  SessionComparison comparison;
  comparison.rows = {{"alike", {10, 10}, {1.0, 1.0}, 1.001, 0.95, 1.05, 0.02, CompareVerdict::kUnclear},
                     {"slower", {10, 12}, {1e-3, 1.5e-3}, 1.5, 1.4, 1.6, 0.02, CompareVerdict::kSlower}};
  comparison.unmatched[1] = {"new one"};
  comparison.notes = {"a note"};
  return comparison;
}

TEST(SessionReport, SaysHowManyAreSlower) {
  EXPECT_EQ(verdict_line(two()),
            "1 of 2 benchmarks is slower in B, 0 faster (wall time, two sessions; all intervals together hold with 95% "
            "confidence)");
  SessionComparison one = two();
  one.rows.erase(one.rows.begin());
  EXPECT_THAT(verdict_line(one), HasSubstr("B is slower by 50.0% (wall"));
  one.rows[0].verdict = CompareVerdict::kBelowThreshold;
  one.threshold_ratio = 0.6;
  EXPECT_THAT(verdict_line(one), HasSubstr("which the threshold of 60% allows"));
}

TEST(SessionReport, ShowsWhatChangedFirst) {
  const std::string text = comparison_text(two(), {"old.json", "new.json"});
  EXPECT_THAT(text, HasSubstr("A: old.json\nB: new.json\n"));
  EXPECT_LT(text.find("\nslower "), text.find("\nalike "));
  EXPECT_THAT(text, HasSubstr("1.400 .. 1.600"));
  EXPECT_THAT(text, HasSubstr("note: only in B: new one"));
  EXPECT_THAT(comparison_text(two(), {"old.json", "new.json"}, true), HasSubstr("| slower | 1.00 ms | 1.50 ms |"));
}

TEST(SessionReport, LongTablesEnd) {
  SessionComparison many = two();
  for (int i = 0; i < 30; ++i) many.rows.push_back(many.rows[0]);
  EXPECT_THAT(comparison_text(many, {"a", "b"}), HasSubstr("... and 11 more without a clear change"));
}

TEST(SessionReport, JsonHasAll) {
  SessionComparison comparison = two();
  comparison.rows[0].upper = std::numeric_limits<double>::infinity();
  const Json json = comparison_json(comparison, {"old.json", "new.json"});
  EXPECT_EQ(json.at("schema"), "perfcast.session-comparison/1");
  EXPECT_EQ(json.at("slower"), true);
  EXPECT_EQ(json.at("benchmarks").at(1).at("ratio"), 1.5);
  EXPECT_EQ(json.at("benchmarks").at(1).at("upper"), 1.6);
  EXPECT_FALSE(json.at("benchmarks").at(0).contains("upper"));
  EXPECT_EQ(json.at("b").at("unmatched").at(0), "new one");
}

}  // namespace
}  // namespace perfcast::measure
