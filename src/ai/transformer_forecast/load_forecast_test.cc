#include "ai/transformer_forecast/load_forecast.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::ai {
namespace {

// A prompt takes 1 s, a token of any number of sequences 0.1 s.
Result<double> simple_step(const StepPoint& point) {
  return point.phase == LlmPhase::kPrefill ? static_cast<double>(point.batch) : 0.1;
}

TEST(LoadForecast, OneRequestIsItsPromptAndItsTokens) {
  const auto times = times_of_load({{0.0}, 4, 100, 11}, simple_step);
  ASSERT_TRUE(times);
  EXPECT_NEAR(times->ttft_s, 1, 1e-9);
  EXPECT_NEAR(times->tpot_s, 0.1, 1e-9);
  EXPECT_NEAR(times->tokens_per_s, 11 / 2.0, 1e-9);
}

TEST(LoadForecast, PromptsComeInPassesAndTokensWaitForThem) {
  // Passes of two prompts of 200 tokens: the first two wait for the last two before their second token.
  const auto times = times_of_load({{0.0, 0.0, 0.0, 0.0}, 4, 200, 2}, simple_step);
  ASSERT_TRUE(times);
  EXPECT_NEAR(times->ttft_s, (2 + 2 + 4 + 4) / 4.0, 1e-9);
  EXPECT_NEAR(times->tpot_s, (2.1 + 2.1 + 0.1 + 0.1) / 4, 1e-9);
  EXPECT_NEAR(times->tokens_per_s, 8 / 4.1, 1e-9);
}

TEST(LoadForecast, WhoFindsNoSlotWaitsAndAnEmptyQueueToo) {
  const auto full = times_of_load({{0.0, 0.0}, 1, 100, 11}, simple_step);
  ASSERT_TRUE(full);
  EXPECT_NEAR(full->ttft_s, (1 + 3) / 2.0, 1e-9);
  const auto idle = times_of_load({{0.0, 50.0}, 1, 100, 1}, simple_step);
  ASSERT_TRUE(idle);
  EXPECT_NEAR(idle->ttft_s, 1, 1e-9);
  EXPECT_TRUE(std::isnan(idle->tpot_s));
  EXPECT_NEAR(idle->tokens_per_s, 2 / 51.0, 1e-9);
}

TEST(LoadForecast, WhatCannotBeIsSaid) {
  EXPECT_EQ(times_of_load({}, simple_step).error().code, "bad-usage");
  const auto failing = [](const StepPoint&) -> Result<double> { return Error{"too-few-runs", "", "", ""}; };
  EXPECT_EQ(times_of_load({{0.0}, 1, 1, 1}, failing).error().code, "too-few-runs");
}

}  // namespace
}  // namespace perfcast::ai
