#include "ai/rules/training_goal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Goal : public testing::Test {
 protected:
  Goal() : rules_(read_bench_rules(PERFCAST_SOURCE_DIR "/data/bench/rules.json")) {}
  void SetUp() override { ASSERT_TRUE(rules_) << rules_.error().message; }
  TrainingGoal of(const std::string& benchmark, const TrainingGiven& given = {}) const {
    const auto goal = training_goal_of(*rules_, benchmark, given);
    EXPECT_TRUE(goal) << benchmark;
    return goal ? *goal : TrainingGoal();
  }
  Result<BenchRules> rules_;
};

TEST_F(Goal, IsTheTables) {
  const TrainingGoal detection = of("RetinaNet");
  EXPECT_EQ(detection.benchmark, "retinanet");
  EXPECT_EQ(detection.quality, "34.0% mAP, RetinaNet on Open Images, v4.1");
  EXPECT_EQ(detection.metric, "mAP");
  EXPECT_EQ(detection.threshold, 0.34);
  EXPECT_FALSE(detection.lower_is_better);
  EXPECT_THAT(detection.notes, IsEmpty());
  const TrainingGoal tuning = of("llama2_70b_lora");
  EXPECT_EQ(tuning.metric, "cross entropy loss");
  EXPECT_EQ(tuning.threshold, 0.925);
  EXPECT_TRUE(tuning.lower_is_better);
  EXPECT_THAT(tuning.notes, IsEmpty());
  // Names of both parts of what the table calls recommendation.
  EXPECT_EQ(of("dlrm").threshold, 0.8025);
  EXPECT_EQ(of("dlrm_dcnv2").threshold, 0.8032);
}

// Published tables of results call them so.
TEST_F(Goal, IsFoundByTheNamesOfPublishedResults) {
  for (const char* const name : {"bert", "dlrm_dcnv2", "llama2_70b_lora", "retinanet", "rgat", "stable_diffusion"}) {
    EXPECT_NE(find_training_rule(*rules_, name), nullptr) << name;
  }
}

TEST_F(Goal, WhatIsGivenWinsAndIsNoted) {
  const TrainingGoal other = of("bert", {"eval_accuracy", 0.7, false});
  EXPECT_EQ(other.metric, "eval_accuracy");
  EXPECT_EQ(other.threshold, 0.7);
  EXPECT_THAT(other.notes, ElementsAre("the metric is 'eval_accuracy', the benchmark's is 'Mask-LM accuracy'",
                                       "the threshold 0.7 is easier than the benchmark's 0.72"));
  EXPECT_THAT(of("bert", {"Mask-LM accuracy", 0.73, false}).notes,
              ElementsAre("the threshold 0.73 is harder than the benchmark's 0.72"));
  EXPECT_THAT(of("gpt3", {"", 2.7, true}).notes, ElementsAre("the threshold 2.7 is easier than the benchmark's 2.69"));
  const TrainingGoal turned = of("resnet50", {"error", 0.241, true});
  EXPECT_TRUE(turned.lower_is_better);
  EXPECT_EQ(turned.notes.size(), 3u);
  EXPECT_THAT(turned.notes[1], HasSubstr("lower is taken for better"));
  EXPECT_EQ(turned.notes[2], "the threshold 0.241 is another than the benchmark's 0.759");
}

TEST_F(Goal, PartsThatNothingHoldsAreNamed) {
  EXPECT_THAT(of("stable-diffusion").notes,
              ElementsAre("of the benchmark's quality CLIP alone is held, not FID of 90 at most"));
  EXPECT_THAT(of("mask-rcnn").notes, ElementsAre(HasSubstr("not mask AP (0.339)")));
}

TEST_F(Goal, UnknownNamesListTheValidOnes) {
  const auto goal = training_goal_of(*rules_, "alexnet", {});
  ASSERT_FALSE(goal);
  EXPECT_EQ(goal.error().where, "--benchmark");
  EXPECT_THAT(goal.error().message, HasSubstr("'alexnet'"));
  EXPECT_THAT(goal.error().expected, HasSubstr("one of: retinanet, bert, gpt3"));
}

TEST_F(Goal, PercentIsNoShare) {
  EXPECT_THAT(percent_note(of("resnet50"), 76.1), HasSubstr("--threshold 75.9"));
  EXPECT_EQ(percent_note(of("resnet50"), 0.8), "");
  EXPECT_EQ(percent_note(of("resnet50", {"", 75.9, false}), 76.1), "");
  EXPECT_EQ(percent_note(of("llama2-70b-lora"), 4.2), "");  // a loss
  EXPECT_EQ(percent_note(of("nmt"), 24.3), "");             // BLEU
}

}  // namespace
}  // namespace perfcast::ai
