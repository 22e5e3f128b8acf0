#include "measure/compare/comparison_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/json.h"

namespace perfcast::measure {
namespace {

using testing::HasSubstr;

Comparison slower() {
  Comparison comparison;
  comparison.verdict = CompareVerdict::kSlower;
  comparison.ratio = 1.021;
  comparison.lower = 1.015;
  comparison.upper = 1.028;
  comparison.significant = true;
  comparison.pairs = 18;
  comparison.runs = 36;
  comparison.spent_s = 39.4;
  comparison.median_wall_s = {1.0, 1.02};
  comparison.median_cpu_s = {0.9, 0.93};
  comparison.counts = {{"instructions_count", 2e9, 2.02e9, 1.01, 1e-6, true}, {"loads_count", 5e8, 5e8, 1, 0, false}};
  comparison.notes = {"a note"};
  return comparison;
}

const CommandTexts kCommands = {"./old x", "./new x"};

TEST(ComparisonReport, SaysWhatCameOutAndHowSure) {
  EXPECT_EQ(verdict_line(slower()),
            "B is slower by 2.10% (wall time, 18 pairs in turns in 39 s; 95% interval of B / A 1.0150 .. 1.0280)");
  Comparison other = slower();
  other.verdict = CompareVerdict::kBelowThreshold;
  other.threshold_ratio = 0.05;
  EXPECT_THAT(verdict_line(other), HasSubstr("which the threshold of 5% allows"));
  other.verdict = CompareVerdict::kFaster;
  other.ratio = 0.5;
  EXPECT_THAT(verdict_line(other), testing::StartsWith("B is faster: it takes 50.00% less ("));
  other.verdict = CompareVerdict::kUnclear;
  other.lower = -std::numeric_limits<double>::infinity();
  other.upper = std::numeric_limits<double>::infinity();
  EXPECT_THAT(verdict_line(other), HasSubstr("too few pairs for an interval"));
}

TEST(ComparisonReport, SaysWhatIsNotClearAndWhatCountsDecided) {
  Comparison open = slower();
  open.verdict = CompareVerdict::kUnclear;
  open.budget_s = 60;
  open.lower = 0.97;
  EXPECT_EQ(verdict_line(open),
            "not clear within 60 s: B may be 3.0% faster or 2.8% slower (wall time, 18 pairs in turns in 39 s; 95% "
            "interval of B / A 0.9700 .. 1.0280)");
  EXPECT_EQ(comparison_json(open, kCommands)["decided_by"], "nothing");
  open.lower = 1.005;
  open.threshold_ratio = 0.01;
  EXPECT_THAT(verdict_line(open), testing::StartsWith("not clear within 60 s: B is slower, by 0.5% to 2.8%; the "
                                                      "threshold is 1% ("));
  Comparison counted = open;
  counted.by_counts = true;
  counted.verdict = CompareVerdict::kSlower;
  counted.counts.front().ratio = 1.03;
  EXPECT_THAT(verdict_line(counted), testing::StartsWith("B is slower by counts: 3.0% more instructions; times not "
                                                         "clear within 60 s ("));
  EXPECT_EQ(comparison_json(counted, kCommands)["decided_by"], "instructions");
  counted.verdict = CompareVerdict::kFaster;
  counted.counts.front().ratio = 0.98;
  EXPECT_THAT(verdict_line(counted), testing::StartsWith("B is faster by counts: 2.0% fewer instructions; times"));
  counted.verdict = CompareVerdict::kNoDifference;
  counted.counts.front() = {"instructions_count", 2e9, 2e9, 1, 0, false};
  counted.lower = 0.99;
  EXPECT_THAT(verdict_line(counted),
              testing::StartsWith("no relevant difference: the same instructions, and times within 2.8% ("));
}

TEST(ComparisonReport, TextAndMarkdownHaveTheSameNumbers) {
  const std::string text = comparison_text(slower(), kCommands), markdown = comparison_text(slower(), kCommands, true);
  for (const std::string& of : {text, markdown}) {
    EXPECT_THAT(of, HasSubstr("./old x"));
    EXPECT_THAT(of, HasSubstr("1.0210"));
    EXPECT_THAT(of, HasSubstr("instructions_count"));
    EXPECT_THAT(of, HasSubstr("1.0100"));
    EXPECT_THAT(of, HasSubstr("note: a note"));
  }
  EXPECT_THAT(markdown, HasSubstr("**B is slower"));
}

TEST(ComparisonReport, JsonLeavesOutWhatIsUnknown) {
  const Json json = comparison_json(slower(), kCommands);
  EXPECT_EQ(json["schema"], "perfcast.comparison/1");
  EXPECT_EQ(json["a"]["command"], "./old x");
  EXPECT_EQ(json["b"]["median_wall_s"], 1.02);
  EXPECT_EQ(json["runs"], 36);
  EXPECT_EQ(json["pairs"], 18);
  EXPECT_EQ(json["error_ratio"], 0.05);
  EXPECT_EQ(json["measured"], "wall_s");
  EXPECT_EQ(json["counts"][0]["ratio"], 1.01);
  Comparison counted = slower();
  counted.pairs = 0;
  counted.upper = std::numeric_limits<double>::infinity();
  const Json few = comparison_json(counted, kCommands);
  EXPECT_EQ(few["measured"], "instructions");
  EXPECT_FALSE(few.contains("upper"));
  EXPECT_FALSE(few.contains("error_ratio"));
  EXPECT_FALSE(few.contains("pairs"));
  EXPECT_FALSE(few["a"].contains("median_wall_s"));
}

TEST(ComparisonReport, ARunIsALine) {
  const std::string line = run_line({1, 3, true, 0.5, 0.25, std::nullopt});
  EXPECT_EQ(Json::parse(line)["command"], "b");
  EXPECT_EQ(line.back(), '\n');
  EXPECT_FALSE(Json::parse(line).contains("peak_resident_bytes"));
}

}  // namespace
}  // namespace perfcast::measure
