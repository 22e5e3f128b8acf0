#include "ai/transformer_forecast/host_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ai/transformer/transformer_model.h"
#include "base/random.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

// A machine of known laws: 10 GB/s, 40 GFLOP/s, a microsecond for each operator.
HostRates made_up_facts() {
  HostRates facts;
  facts.read = {{1e6, 2e10}, {1e8, 1e10}};
  facts.fp32_flops_per_s = 5e10;
  facts.l2_bytes = 1e6;
  return facts;
}

double law(const OperatorWork& work, const HostRates& facts, double footprint) {
  const double weights = work.inputs * work.panels * 64;
  const double compute_s = 2 *
                           (work.rows * weights + work.tile_values[0] + 2 * work.tile_values[1] +
                            3 * work.tile_values[2] + 4 * work.tile_values[3]) /
                           4e10;
  const double memory_s = (work.weight_bytes + work.kv_bytes) / facts.read_bytes_per_s(footprint);
  return work.count * (1e-6 + std::max(compute_s, memory_s) + 1e-9 * (work.values + work.softmax_values));
}

std::vector<StepSample> made_up_samples(double noise) {
  const HostRates facts = made_up_facts();
  std::vector<StepSample> samples;
  Random random(1);
  for (int64_t i = 0; i < 6; ++i) {
    StepSample sample;
    sample.config = built_in_transformer("perfcast-15m")->config;
    sample.config.hidden = 128 + 64 * i;
    sample.config.layers = 3 + i;
    sample.config.ffn = 512 + 128 * i;
    sample.config.kv_heads = i % 2 == 0 ? 2 : 4;
    sample.model = std::to_string(i);
    for (const LlmPhase phase : {LlmPhase::kPrefill, LlmPhase::kDecode}) {
      for (const auto& [batch, tokens] : {std::pair<int64_t, int64_t>(1, 60), {2, 200}, {4, 90}, {8, 40}, {3, 150}}) {
        sample.point = {phase, batch, tokens};
        const auto step = step_work(sample.config, Precision::kFp32, sample.point);
        EXPECT_TRUE(step);
        sample.times = {};
        for (const OperatorWork& work : step->operators) {
          const double seconds = law(work, facts, step->footprint_bytes) * std::exp(noise * random.normal());
          sample.times.operators[work.name] += seconds;
          sample.times.seconds += seconds;
        }
        samples.push_back(sample);
      }
    }
  }
  return samples;
}

TEST(HostModel, LearnsTheLawsOfAMachine) {
  const HostRates facts = made_up_facts();
  const auto model = HostModel::fit(facts, Precision::kFp32, made_up_samples(0));
  ASSERT_TRUE(model) << to_text(model.error());
  const LlmConfig config = built_in_transformer("perfcast-110m")->config;
  for (const LlmPhase phase : {LlmPhase::kPrefill, LlmPhase::kDecode}) {
    for (const int64_t batch : {int64_t{1}, int64_t{8}}) {
      const StepPoint point = {phase, batch, 128};
      const auto forecast = model->forecast(config, point);
      ASSERT_TRUE(forecast);
      const auto step = step_work(config, Precision::kFp32, point);
      double expected = 0;
      for (const OperatorWork& work : step->operators) expected += law(work, facts, step->footprint_bytes);
      EXPECT_NEAR(forecast->seconds / expected, 1, 0.1);
      // It is four times as large as what was learned from.
      EXPECT_THAT(forecast->beyond, testing::Contains(testing::HasSubstr("weights a step: ")));
      EXPECT_TRUE(std::isnan(forecast->lower_s));
      EXPECT_TRUE(std::isnan(forecast->operators.front().upper_s));
      EXPECT_LT(forecast->roofline_s, expected);
      double sum = 0;
      for (const OperatorForecast& each : forecast->operators) sum += each.seconds;
      EXPECT_NEAR(sum, forecast->seconds, 1e-9);
    }
  }
  EXPECT_LT(model->left_out_error(LlmPhase::kDecode), 0.05);
}

TEST(HostModel, IntervalsFollowWhatWasLeftOut) {
  const auto model = HostModel::fit(made_up_facts(), Precision::kFp32, made_up_samples(0.2));
  ASSERT_TRUE(model);
  const auto forecast = model->forecast(built_in_transformer("perfcast-15m")->config, {LlmPhase::kDecode, 1, 128});
  ASSERT_TRUE(forecast);
  EXPECT_THAT(forecast->beyond, testing::IsEmpty());
  // Each operator errs by 0.2 on its own: a step by less, an operator by some 1.6 of it nine times in ten.
  EXPECT_GT(std::log(forecast->upper_s / forecast->seconds), 0.05);
  EXPECT_LT(std::log(forecast->upper_s / forecast->seconds), 0.35);
  for (const OperatorForecast& each : forecast->operators) {
    EXPECT_GT(std::log(each.upper_s / each.seconds), 0.1) << operator_title(each.name);
  }
}

TEST(HostModel, WhatLiesBeyondIsNamedAndHasNoInterval) {
  const auto model = HostModel::fit(made_up_facts(), Precision::kFp32, made_up_samples(0.2));
  ASSERT_TRUE(model);
  const LlmConfig config = built_in_transformer("perfcast-15m")->config;
  const auto beyond = [&](LlmPhase phase, int64_t batch, int64_t tokens) {
    const auto forecast = model->forecast(config, {phase, batch, tokens});
    EXPECT_TRUE(forecast);
    EXPECT_EQ(forecast->beyond.empty(), forecast->lower_s < forecast->upper_s);
    return join(forecast->beyond, "; ");
  };
  EXPECT_EQ(beyond(LlmPhase::kDecode, 8, 200), "");
  EXPECT_EQ(beyond(LlmPhase::kDecode, 64, 200), "sequences: 64 (1 to 8)");
  EXPECT_EQ(beyond(LlmPhase::kDecode, 1, 500), "tokens of context: 500 (up to 200)");
  EXPECT_EQ(beyond(LlmPhase::kPrefill, 2, 200), "");
  EXPECT_EQ(beyond(LlmPhase::kPrefill, 1, 20), "tokens of prompts in a pass: 20 (60 to 450)");
}

TEST(HostModel, TooFewRunsAreNamed) {
  auto samples = made_up_samples(0);
  for (StepSample& sample : samples) sample.model = "one";
  EXPECT_EQ(HostModel::fit(made_up_facts(), Precision::kFp32, samples).error().code, "too-few-runs");
  samples = made_up_samples(0);
  std::erase_if(samples, [](const StepSample& sample) { return sample.point.phase == LlmPhase::kPrefill; });
  const auto model = HostModel::fit(made_up_facts(), Precision::kFp32, samples);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->forecast(samples.front().config, {LlmPhase::kPrefill, 1, 100}).error().code, "too-few-runs");
  EXPECT_TRUE(std::isnan(model->left_out_error(LlmPhase::kPrefill)));
}

}  // namespace
}  // namespace perfcast::ai
