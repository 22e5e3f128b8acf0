#include "ai/train_time/train_curve.h"

#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

TEST(TrainCurve, ShowsThatOutputWasHeldBack) {
  TrainCurve curve;
  curve.wall_s = 100;
  curve.readings = {{99.5, 0.1}, {99.5, 0.2}, {99.6, 0.3}};
  EXPECT_TRUE(seems_buffered(curve));
  curve.readings.front().time_s = 30;
  EXPECT_FALSE(seems_buffered(curve));
  curve.readings = {{99.5, 0.1}, {99.5, 0.2}};
  EXPECT_FALSE(seems_buffered(curve));  // two may be all that there is
  curve.readings = {{0.5, 0.1}, {0.5, 0.2}, {0.5, 0.3}};
  curve.wall_s = 0.5;
  EXPECT_FALSE(seems_buffered(curve));
}

TEST(TrainCurve, NamesItsStates) {
  for (const TrainRunState state : {TrainRunState::kDone, TrainRunState::kFailed, TrainRunState::kLimit,
                                    TrainRunState::kInterrupted, TrainRunState::kCutOff, TrainRunState::kImported})
    EXPECT_EQ(parse_train_run_state(name_of(state)), state);
  EXPECT_FALSE(parse_train_run_state("finished"));
}

}  // namespace
}  // namespace perfcast::ai
