#include "ai/train_time/threshold_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::ai {
namespace {

const std::vector<MetricReading> kNoisy = {{1, 0.5}, {2, 0.91}, {3, 0.7}, {4, 0.9}, {5, 0.92}, {6, 0.95}};

ThresholdRule rule_of(const char* text, bool lower = false) { return *parse_threshold_rule(text, lower); }

TEST(ThresholdRule, DecidesHowMuchLuckCounts) {
  EXPECT_EQ(time_to_threshold(kNoisy, 0.9, rule_of("raw")), 2);
  EXPECT_EQ(time_to_threshold(kNoisy, 0.9, rule_of("median:3")), 4);  // of 0.91, 0.7, 0.9
  EXPECT_EQ(time_to_threshold(kNoisy, 0.9, rule_of("hold:2")), 5);
  EXPECT_EQ(time_to_threshold(kNoisy, 0.9, rule_of("hold:3")), 6);
  EXPECT_EQ(time_to_threshold(kNoisy, 0.9, rule_of("hold:4")), std::nullopt);
  EXPECT_EQ(time_to_threshold(kNoisy, 0.96, rule_of("raw")), std::nullopt);
  EXPECT_EQ(time_to_threshold(kNoisy, 0.9, rule_of("median:2")), 5);  // 0.91; 0.805, 0.8, 0.91
  EXPECT_EQ(time_to_threshold({}, 0.9, rule_of("raw")), std::nullopt);
}

TEST(ThresholdRule, TurnsAroundWhereLowerIsBetter) {
  const std::vector<MetricReading> loss = {{1, 3}, {2, 1.9}, {3, 2.2}, {4, 1.8}, {5, 1.7}};
  EXPECT_EQ(time_to_threshold(loss, 2, rule_of("raw", true)), 2);
  EXPECT_EQ(time_to_threshold(loss, 2, rule_of("hold:2", true)), 5);
  EXPECT_EQ(best_threshold(loss, rule_of("raw", true)), 1.7);
  EXPECT_EQ(best_threshold(loss, rule_of("hold:2", true)), 1.8);
}

TEST(ThresholdRule, IsNotMetByWhatIsNoNumber) {
  const std::vector<MetricReading> diverged = {{1, 0.8}, {2, NAN}, {3, INFINITY}, {4, 0.95}};
  EXPECT_EQ(time_to_threshold(diverged, 0.9, rule_of("raw")), 4);
  EXPECT_EQ(time_to_threshold(diverged, 0.9, rule_of("hold:2")), std::nullopt);
  EXPECT_EQ(time_to_threshold(diverged, 0.9, rule_of("median:3")), std::nullopt);
  EXPECT_EQ(best_threshold({{1, NAN}}, rule_of("raw")), std::nullopt);
}

TEST(ThresholdRule, IsReadAndNamed) {
  EXPECT_EQ(rule_name(rule_of("median:5")), "median:5");
  EXPECT_EQ(rule_name(rule_of("raw")), "raw");
  EXPECT_EQ(rule_in_words(rule_of("hold:2")),
            "2 evaluations in a row at the threshold or above, counted at the last of them");
  for (const char* wrong : {"", "median", "median:0", "hold:1.5", "hold:1001", "mean:3", "median:x"})
    EXPECT_FALSE(parse_threshold_rule(wrong, false)) << wrong;
}

}  // namespace
}  // namespace perfcast::ai
