#include "ai/transformer_forecast/step_times.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/transformer/testing/reference_transformer.h"

namespace perfcast::ai {
namespace {

TEST(StepTimes, AreMediansOfStepsAndTheirOperators) {
  TransformerOptions options;
  options.slots = 2;
  options.context = 40;
  auto transformer = Transformer::random(small_transformer(false), 1, options);
  ASSERT_TRUE(transformer);
  for (const LlmPhase phase : {LlmPhase::kPrefill, LlmPhase::kDecode}) {
    StepMeasurement measurement({phase, 2, 40});
    ASSERT_TRUE(measurement.run(*transformer, 0, 5));
    EXPECT_EQ(transformer->length(0), 40);
    const StepTimes times = measurement.times();
    EXPECT_EQ(times.runs, 5);
    EXPECT_GT(times.seconds, 0);
    EXPECT_GT(times.wall_ratio, 0.9);
    EXPECT_GT(times.operators.at(OperatorName::kFfnDown), 0);
    EXPECT_GE(times.operators.at(kStepRest), 0);
  }
  StepMeasurement too_long({LlmPhase::kPrefill, 1, 41});
  EXPECT_EQ(too_long.run(*transformer, 0, 1).error().code, "context-full");
}

TEST(StepTimes, HalvesOfRoundsDifferByTheirMedians) {
  const std::vector<double> values = {1, 1, 1, 1.2, 1.2, 1};
  EXPECT_NEAR(difference_of_halves(values, std::vector<size_t>{3, 5, 6}), 0.2, 1e-9);
  EXPECT_TRUE(std::isnan(difference_of_halves(values, std::vector<size_t>{6})));
  EXPECT_TRUE(std::isnan(difference_of_halves({}, {})));
}

TEST(StepTimes, WhatTheClockSawNothingOfIsZeroAndWhatDidNotRunIsMissing) {
  StepMeasurement measurement({LlmPhase::kDecode, 1, 4});
  for (const double seconds : {0.0, 0.0, 3.0}) {
    OperatorSeconds sums;
    sums[OperatorName::kRope] = seconds;
    sums.marks[static_cast<size_t>(OperatorName::kRope)] = 2;
    measurement.add_operators(sums);
  }
  const StepTimes times = measurement.times();
  EXPECT_EQ(times.operators.at(OperatorName::kRope), 0);  // the median of all three
  EXPECT_FALSE(times.operators.contains(OperatorName::kFfnDown));
}

}  // namespace
}  // namespace perfcast::ai
