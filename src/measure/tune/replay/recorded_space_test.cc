#include "measure/tune/replay/recorded_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/tune/replay/replay.h"

namespace perfcast::measure {
namespace {

using testing::HasSubstr;

TEST(RecordedSpace, InfersKnobsAndJoinsRepeats) {
  const auto space = parse_recorded_space(
      "block,kind,fixed,time_s,valid\n16,x,7,2.0,1\n8,x,7,1.0,True\n8,y,7,,0\n16,x,7,4.0,1\n,y,7,3.0,1\n", "s.csv");
  ASSERT_TRUE(space) << to_text(space.error());
  ASSERT_EQ(space->knobs.size(), 2u);
  EXPECT_EQ(space->knobs[0].values[0].text, "8");
  EXPECT_EQ(space->knobs[0].values[1].number, 16);
  EXPECT_FALSE(space->knobs[1].is_numeric());
  ASSERT_EQ(space->points.size(), 4u);
  EXPECT_EQ(space->points[0].time_s, 3.0);
  EXPECT_FALSE(space->points[2].time_s);
  EXPECT_EQ(space->points[3].setting[0], kNotInPlay);
  EXPECT_EQ(space->repeated_rows, 1u);
  EXPECT_EQ(space->invalid_points(), 1u);
  EXPECT_EQ(space->best_s(), 1.0);
  EXPECT_THAT(space->constant_columns, testing::ElementsAre("fixed"));
}

TEST(RecordedSpace, SaysWhatIsWrong) {
  const auto problem = [](const std::string& text) {
    const auto space = parse_recorded_space(text, "s.csv");
    EXPECT_FALSE(space);
    return space ? "" : space.error().message;
  };
  EXPECT_EQ(problem("a,time_s,valid\n1,x,1\n2,0,1\n3,1,maybe\n"),
            "s.csv:2: valid, and time_s is 'x'\ns.csv:3: valid, and time_s is '0'\ns.csv:4: valid is 'maybe'");
  EXPECT_THAT(problem("a,valid\n1,1\n"), HasSubstr("time_s"));
  EXPECT_EQ(problem("a,time_s,valid\n1,,0\n2,,0\n"), "no row is valid");
  EXPECT_THAT(problem("a,time_s\n1,2\n1,3\n"), HasSubstr("no column but time_s and valid"));
}

TEST(Replay, ScoresByTrials) {
  std::string text = "a,b,time_s,valid\n";
  for (int a = 0; a < 10; ++a) {
    for (int b = 0; b < 10; ++b)
      text += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(1 + 0.1 * (a + b)) + ",1\n";
  }
  const auto space = parse_recorded_space(text, "s.csv");
  ASSERT_TRUE(space);
  ReplayRequest request;
  request.strategies = {StrategyKind::kRandom, StrategyKind::kSurrogate};
  request.trials = 100;
  request.seeds = 3;
  const auto replay = replay_tuning(*space, request);
  ASSERT_TRUE(replay);
  EXPECT_EQ(replay->best_s, 1);
  for (const ReplayedStrategy& strategy : replay->strategies) {
    ASSERT_EQ(strategy.searches.size(), 3u);
    EXPECT_EQ(strategy.searches[1].seed, 2u);
    EXPECT_EQ(strategy.searches[0].tried.size(), 100u);
    const ReplayScore all = score_after(*replay, strategy, 100);
    EXPECT_EQ(all.mean_ratio, 1);
    EXPECT_NEAR(all.within_share, 1, 1e-12);
    EXPECT_GE(score_after(*replay, strategy, 1).mean_ratio, all.mean_ratio);
  }
}

TEST(RecordedSpace, SaysHowItWasRead) {
  const auto space = parse_recorded_space("n;time_s\n1;1,5\n2;0,25\n", "s.csv");
  ASSERT_TRUE(space) << to_text(space.error());
  EXPECT_EQ(space->best_s(), 0.25);
  EXPECT_EQ(space->form, "columns separated by semicolons; decimal commas");
  EXPECT_EQ(parse_recorded_space("n,time_s\n1,1.5\n2,0.25\n", "s.csv")->form, "");
}

}  // namespace
}  // namespace perfcast::measure
