#include "program/explain/why.h"

#include <gtest/gtest.h>

namespace perfcast::program {
namespace {

TEST(RateInWords, IsReadableHoweverRare) {
  EXPECT_EQ(rate_in_words(0.3124), "0.312");
  EXPECT_EQ(rate_in_words(0.0042), "4.2 in a thousand");
  EXPECT_EQ(rate_in_words(3.14e-6), "3.14 in a million");
  EXPECT_EQ(rate_in_words(1e-12), "next to none");
  EXPECT_EQ(rate_in_words(0), "none");
}

FeatureStanding unusual(const std::string& group, double percentile, double deviations) {
  return {.feature = "f", .group = group, .text = "loads", .percentile = percentile, .deviations = deviations};
}

TEST(Why, StandingInWords) {
  EXPECT_EQ(standing_in_words(unusual("memory", 93.2, 2)), "more than in 93% of the training programs");
  EXPECT_EQ(standing_in_words(unusual("memory", 100, 2)), "more than in every training program");
  EXPECT_EQ(standing_in_words(unusual("memory", 10, -2)), "less than in 90% of the training programs");
  EXPECT_EQ(standing_in_words(unusual("memory", 0, -2)), "less than in every training program");
}

TEST(Why, NamesTheTwoLargestGroupsAndTheirMostUnusualFeature) {
  Attribution attribution;
  EXPECT_EQ(why_line(attribution, {}), "");
  attribution.groups = {{"memory", 0.6, {}}, {"branch", 0.3, {}}, {"system", 0.1, {}}};
  const std::string memory = describe_group("memory"), branch = describe_group("branch");
  EXPECT_EQ(why_line(attribution, {}), "why: 60% of what sets it apart comes from " + memory + ", 30% from " + branch);
  // Of branches nothing is far enough from what is usual.
  EXPECT_EQ(why_line(attribution, {unusual("memory", 93, 2), unusual("branch", 60, 1.4)}),
            "why: 60% of what sets it apart comes from " + memory +
                " (loads: more than in 93% of the training programs), 30% from " + branch);
}

TEST(Why, SaysWhatCountsAgainstIt) {
  Attribution attribution;
  attribution.groups = {{"memory", 1.2, {}}, {"branch", 0.05, {}}, {"mix", -0.25, {}}};
  EXPECT_EQ(why_line(attribution, {}), "why: 120% of what sets it apart comes from " + describe_group("memory") + ", " +
                                           describe_group("mix") + " counts against it (-25%)");
}

}  // namespace
}  // namespace perfcast::program
