#include "base/process/ending.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

using std::chrono::milliseconds;
using Step = Ending::Step;

TEST(Ending, WaitsUntilAsked) {
  Ending ending;
  EXPECT_FALSE(ending.asked());
  EXPECT_EQ(ending.step(Ending::Clock::time_point() + milliseconds(1'000'000)), Step::kWait);
  EXPECT_EQ(ending.due(), Ending::Clock::time_point::max());
}

TEST(Ending, KillsAfterTheGraceAndThenEveryTenthOfASecond) {
  Ending ending;
  const Ending::Clock::time_point start{};
  ending.ask(start);
  EXPECT_EQ(ending.step(start + milliseconds(699)), Step::kWait);
  EXPECT_EQ(ending.step(start + milliseconds(700)), Step::kKill);
  EXPECT_EQ(ending.step(start + milliseconds(701)), Step::kWait);
  EXPECT_EQ(ending.due(), start + milliseconds(800));
  EXPECT_EQ(ending.step(start + milliseconds(800)), Step::kKill);
}

TEST(Ending, AskedTwiceKillsAtOnce) {
  Ending ending;
  const Ending::Clock::time_point start{};
  ending.ask(start);
  ending.ask(start + milliseconds(10));
  EXPECT_EQ(ending.step(start + milliseconds(10)), Step::kKill);
  ending.ask(start + milliseconds(20));  // no more can be done
  EXPECT_EQ(ending.step(start + milliseconds(20)), Step::kWait);
}

TEST(Ending, GivesUpTenSecondsAfterTheFirstKill) {
  Ending ending;
  const Ending::Clock::time_point start{};
  ending.ask(start);
  int kills = 0;
  auto now = start;
  while (true) {
    now = ending.due();
    const Step step = ending.step(now);
    if (step == Step::kGiveUp) break;
    ASSERT_EQ(step, Step::kKill);
    ASSERT_LT(++kills, 1000);
  }
  EXPECT_EQ(now, start + milliseconds(10'700));
  EXPECT_EQ(kills, 100);
}

}  // namespace
}  // namespace perfcast
