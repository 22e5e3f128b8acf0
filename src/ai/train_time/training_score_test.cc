#include "ai/train_time/training_score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

using testing::HasSubstr;

TEST(TrainingScore, DropsTheFastestAndTheSlowest) {
  const TrainingScore score = training_score({10, 1, 4, 2, 3});
  EXPECT_EQ(score.mean_s, 3);  // of 2, 3, 4
  EXPECT_TRUE(score.is_trimmed);
  EXPECT_EQ(score.fastest_s, 1);
  EXPECT_EQ(score.slowest_s, 10);
  EXPECT_EQ(score.median_s, 3);
  EXPECT_NEAR(*score.deviation_ratio, 3.5355 / 4, 1e-4);
  EXPECT_EQ(score.rule, "mean of 3 of 5 runs, without the fastest and the slowest");
}

TEST(TrainingScore, CountsWhatNeverGotThereAsTheSlowest) {
  const TrainingScore one = training_score({10, std::nullopt, 4, 2, 3});
  EXPECT_NEAR(*one.mean_s, 17.0 / 3, 1e-12);  // of 3, 4, 10
  EXPECT_EQ(one.unfinished, 1);
  EXPECT_THAT(one.rule, HasSubstr("the one that never reached the target"));
  const TrainingScore two = training_score({std::nullopt, std::nullopt, 4, 2, 3});
  EXPECT_FALSE(two.mean_s);
  EXPECT_THAT(two.rule, HasSubstr("2 of 5 runs never reached the target"));
  EXPECT_EQ(two.fastest_s, 2);
}

TEST(TrainingScore, OfFewRunsSaysSo) {
  EXPECT_EQ(training_score({5}).mean_s, 5);
  EXPECT_EQ(training_score({5, 7}).mean_s, 6);
  EXPECT_FALSE(training_score({5, 7}).is_trimmed);
  EXPECT_EQ(training_score({5, 6, 9}).mean_s, 6);
  EXPECT_FALSE(training_score({5, std::nullopt}).mean_s);
  EXPECT_FALSE(training_score({}).mean_s);
  EXPECT_EQ(training_score({}).rule, "no run");
  EXPECT_EQ(training_score({std::nullopt}).rule, "the run never reached the target");
  EXPECT_FALSE(training_score({5}).deviation_ratio);
}

}  // namespace
}  // namespace perfcast::ai
