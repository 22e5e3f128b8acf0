#include "ai/load/load_objective.h"

#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

TEST(LoadObjective, ReadsItsLimits) {
  const auto objective = parse_load_objective("ttft=2s, tpot=200ms,share=99.9%", "--objective");
  ASSERT_TRUE(objective);
  EXPECT_EQ(objective->ttft_s, 2);
  EXPECT_EQ(objective->tpot_s, 0.2);
  EXPECT_FALSE(objective->latency_s);
  EXPECT_DOUBLE_EQ(objective->share, 0.999);
  EXPECT_DOUBLE_EQ(parse_load_objective("latency=15us", "")->latency_s.value(), 15e-6);
  EXPECT_EQ(parse_load_objective("latency=1s,share=0.5", "")->share, 0.5);
}

TEST(LoadObjective, RefusesWhatIsNone) {
  for (const char* const text :
       {"", "2s", "ttft=", "ttft=2", "ttft=2min", "ttft=-1s", "ttft=nans", "ttft=0s", "share=99%", "latency=1s,share=0",
        "latency=1s,share=101%", "tput=3s", "ttft=1s,ttft=2s", "latency=1s,"}) {
    const auto objective = parse_load_objective(text, "--objective");
    ASSERT_FALSE(objective) << text;
    EXPECT_EQ(objective.error().code, "bad-usage");
    EXPECT_EQ(objective.error().where, "--objective");
  }
}

TEST(LoadObjective, CountsRequestsThatKeepAllLimits) {
  LoadResult result;
  result.settings.tokens = true;
  result.samples = 5;  // one has no answer
  result.answered = 4;
  result.latencies_ns = {10, 20, 30, 40};
  result.ttft_ns = {1, 5, -1, 2};
  result.tpot_ns = {3, 3, -1, 9};
  LoadObjective objective;
  objective.ttft_s = 4e-9;
  objective.share = 0.4;
  ObjectiveOutcome outcome = judge_load_objective(objective, result, 2.0);
  EXPECT_EQ(outcome.kept, 2);
  EXPECT_EQ(outcome.requests, 5);
  EXPECT_DOUBLE_EQ(outcome.kept_share, 0.4);
  EXPECT_TRUE(outcome.met);
  EXPECT_DOUBLE_EQ(outcome.goodput_per_s, 1.0);
  objective.tpot_s = 3e-9;
  outcome = judge_load_objective(objective, result, 2.0);
  EXPECT_EQ(outcome.kept, 1);
  EXPECT_FALSE(outcome.met);
  LoadObjective latency;
  latency.latency_s = 40e-9;
  EXPECT_EQ(judge_load_objective(latency, result, 1).kept, 4);
  EXPECT_DOUBLE_EQ(judge_load_objective(latency, result, 46.2).goodput_per_s, 46.2);  // no more than were answered
}

}  // namespace
}  // namespace perfcast::ai
