#include "ai/transformer_forecast/step_calibration.h"

#include <gtest/gtest.h>

#include "ai/transformer/testing/reference_transformer.h"

namespace perfcast::ai {
namespace {

Transformer small_one() {
  TransformerOptions options;
  options.slots = 10;
  options.context = 64;
  auto transformer = Transformer::random(small_transformer(false), 3, options);
  EXPECT_TRUE(transformer);
  return *std::move(transformer);
}

TEST(StepCalibration, GivesATimeForEveryStepOfTheEngine) {
  Transformer transformer = small_one();
  StepCalibration calibration(transformer, 100, 1);
  for (int round = 0; round < 3; ++round) ASSERT_TRUE(calibration.run_round());
  const MeasuredSteps steps = calibration.fit();
  EXPECT_EQ(steps.limits.max_sequences, 10);
  EXPECT_EQ(steps.limits.context_tokens, 64);
  EXPECT_EQ(steps.limits.cache_tokens, 640);
  EXPECT_EQ(steps.limits.step_tokens, 100);
  std::vector<int64_t> layers, head;
  for (const RowTime& each : steps.layers) layers.push_back(each.rows);
  for (const RowTime& each : steps.head) head.push_back(each.rows);
  EXPECT_EQ(layers, (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 48, 64, 96}));
  EXPECT_EQ(head, (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 16}));
  const MeasuredStepTime times(steps);
  const double few = times.seconds({.decodes = 1, .decode_context_tokens = 10});
  const double many = times.seconds(
      {.decodes = 10, .decode_context_tokens = 600, .prefills = 1, .prefill_tokens = 60, .prefill_pairs = 60 * 61 / 2});
  EXPECT_GT(few, 0);
  EXPECT_GT(many, few);
  EXPECT_EQ(steps.checked_steps, 32);
  for (int64_t slot = 0; slot < 10; ++slot) EXPECT_EQ(transformer.length(slot), 0);
}

TEST(StepCalibration, EndsWhenItIsTold) {
  Transformer transformer = small_one();
  StepCalibration calibration(transformer, 100, 1);
  const Status ended = calibration.run_round([] { return true; });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, "interrupted");
}

}  // namespace
}  // namespace perfcast::ai
