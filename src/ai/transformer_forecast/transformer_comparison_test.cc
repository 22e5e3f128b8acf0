#include "ai/transformer_forecast/transformer_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"

namespace perfcast::ai {
namespace {

ComparedStep step_of(double forecast, double lower, double upper, double measured) {
  ComparedStep step;
  step.point = {LlmPhase::kDecode, 4, 100};
  step.forecast.seconds = forecast;
  step.forecast.lower_s = lower;
  step.forecast.upper_s = upper;
  step.forecast.roofline_s = forecast / 2;
  step.measured_s = measured;
  step.footprint_bytes = 1e6;
  step.operators = {{{OperatorName::kQkvProjection, 0.4, 0.3, 0.5, 0.2}, 0.45},
                    {{OperatorName::kScores, forecast - 0.4, 0.1, 0.7, 0.1}, measured - 0.45}};
  return step;
}

TEST(TransformerComparison, ScoresCountErrorsAndIntervals) {
  const ComparisonScores scores = scores_of({step_of(1, 0.8, 1.2, 1.25), step_of(1, 0.8, 1.2, 0.8)});
  EXPECT_EQ(scores.steps, 2);
  EXPECT_EQ(scores.inside, 1);
  EXPECT_NEAR(scores.mean_error, (0.2 + 0.25) / 2, 1e-9);
  EXPECT_NEAR(scores.worst_error, 0.25, 1e-9);
  EXPECT_NEAR(scores.roofline_mean_error, (0.6 + 0.375) / 2, 1e-9);
  EXPECT_EQ(scores_of({}).steps, 0);
  EXPECT_TRUE(std::isnan(scores_of({}).noise_floor));
}

TEST(TransformerComparison, ReportsNameTheOperatorOfWhatLiesOutside) {
  TransformerComparison comparison;
  comparison.request.models = {"m"};
  comparison.facts.cpu = "a CPU";
  comparison.facts.read = {{1e6, 1e7}};
  comparison.facts.fp32_flops_per_s = 1e9;
  ComparedTransformer model;
  model.config.name = "m";
  model.steps = {step_of(1, 0.8, 1.2, 1.5)};
  model.steps[0].halves_difference_ratio = 0.02;
  EXPECT_NEAR(model.steps[0].read_share(comparison.facts), 1e6 / 1.5 / 1e7, 1e-9);
  EXPECT_EQ(model.steps[0].tokens_per_s(2), 2);
  comparison.models = {model};
  const std::string text = to_text(comparison, true);
  EXPECT_THAT(text, testing::HasSubstr("a token of each of 4, at 100 tokens: measured 1.5 s lies above the interval"));
  EXPECT_THAT(text, testing::HasSubstr("'attention'"));
  EXPECT_THAT(text, testing::HasSubstr("1 steps: mean error 33.3%"));
  EXPECT_THAT(text, testing::HasSubstr("halves of the rounds differ by 2.0%"));
  EXPECT_THAT(text, testing::HasSubstr("/s of 977 KiB over and over"));
  const std::string goals = goals_text(comparison);
  EXPECT_THAT(goals, testing::HasSubstr("at most 10%: 33.3%, short"));
  EXPECT_THAT(goals, testing::HasSubstr("0 of 1 steps, short"));
  const Json json = to_json(comparison);
  EXPECT_EQ(json["schema"], "perfcast.bench.forecast/1");
  const Json& step = json["models"][0]["steps"][0];
  EXPECT_EQ(step["farthest_operator"], "attention");
  EXPECT_EQ(step["operators"].size(), 2u);
  EXPECT_EQ(json["scores"]["inside"], 0);
  EXPECT_EQ(json["scores"]["noise_floor_ratio"], 0.02);
  EXPECT_EQ(json["memory_footprint_bytes"], 1e6);
}

TEST(TransformerComparison, WhatWasNotTimedIsNeitherOutsideNorTheFarthest) {
  ComparedStep step = step_of(1, 0.8, 1.2, 1.5);
  step.operators.push_back({{OperatorName::kFfnDown, 5, 4, 6, 1}, std::nullopt});
  EXPECT_FALSE(step.operators.back().outside());
  ASSERT_NE(step.farthest(), nullptr);
  EXPECT_EQ(step.farthest()->forecast.name, OperatorName::kScores);
  TransformerComparison comparison;
  comparison.facts.read = {{1e6, 1e7}};
  comparison.models.resize(1);
  comparison.models[0].steps = {step};
  EXPECT_THAT(to_text(comparison, true), testing::HasSubstr("not timed"));
  const Json json = to_json(comparison);
  const Json& last = json["models"][0]["steps"][0]["operators"][2];
  EXPECT_FALSE(last.contains("measured_s"));
  EXPECT_FALSE(last.contains("outside"));
  step.operators.erase(step.operators.begin(), step.operators.begin() + 2);
  EXPECT_EQ(step.farthest(), nullptr);
}

TEST(TransformerComparison, WhatLiesBeyondHasNoIntervalAndRoughOnesSaySo) {
  ComparedStep step = step_of(1, kUnknown, kUnknown, 1.5);
  step.forecast.beyond = {"sequences: 64 (1 to 8)"};
  const ComparisonScores scores = scores_of({step, step_of(1, 0.8, 1.2, 1.1)});
  EXPECT_EQ(scores.steps, 2);
  EXPECT_EQ(scores.with_interval, 1);
  EXPECT_EQ(scores.inside, 1);
  TransformerComparison comparison;
  comparison.facts.read = {{1e6, 1e7}};
  comparison.request.quick = true;
  comparison.models.resize(1);
  comparison.models[0].steps = {step};
  const std::string text = to_text(comparison, false);
  EXPECT_THAT(text, testing::HasSubstr("1 of 1 steps lie beyond what was learned from"));
  EXPECT_THAT(text, testing::HasSubstr("sequences: 64 (1 to 8)"));
  EXPECT_THAT(text, testing::HasSubstr("intervals are rough"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("90% interval")));
  EXPECT_THAT(goals_text(comparison), testing::HasSubstr("0 of 0 steps, short; 1 lie beyond"));
  const Json json = to_json(comparison);
  EXPECT_EQ(json["rough"], true);
  const Json& first = json["models"][0]["steps"][0];
  EXPECT_EQ(first["beyond"][0], "sequences: 64 (1 to 8)");
  EXPECT_FALSE(first.contains("lower_s"));
  EXPECT_FALSE(first.contains("outside"));
}

TEST(TransformerComparison, RequestsAreChecked) {
  ComparisonRequest request;
  EXPECT_EQ(compare_with_forecast(request, {}).error().where, "models");
  request.models = {"perfcast-15m"};
  request.batches = {0};
  EXPECT_EQ(compare_with_forecast(request, {}).error().where, "batches");
  request.batches = {1};
  request.rounds = 0;
  EXPECT_EQ(compare_with_forecast(request, {}).error().where, "rounds");
  request.rounds = 1;
  request.quick = true;
  request.is_interrupted = [] { return true; };
  EXPECT_EQ(compare_with_forecast(request, {}).error().kind, ErrorKind::kInterrupted);
}

TEST(TransformerComparison, RunsFromCalibrationToReport) {
  ComparisonRequest request;
  request.models = {"perfcast-15m"};
  request.precision = Precision::kInt8;
  request.batches = {1, 2};
  request.prompt_tokens = 32;
  request.new_tokens = 4;
  request.rounds = 1;
  request.quick = true;
  std::vector<std::string> said;
  const auto comparison = compare_with_forecast(request, [&](const std::string& what) { said.push_back(what); });
  ASSERT_TRUE(comparison) << to_text(comparison.error());
  ASSERT_EQ(comparison->models.size(), 1u);
  ASSERT_EQ(comparison->models[0].steps.size(), 4u);
  EXPECT_GE(said.size(), 3u);
  for (const ComparedStep& step : comparison->models[0].steps) {
    EXPECT_GT(step.measured_s, 0);
    EXPECT_GT(step.forecast.seconds, 0);
    EXPECT_GT(step.forecast.roofline_s, 0);
  }
  EXPECT_GT(comparison->models[0].held_bytes, 1.4e7);
}

}  // namespace
}  // namespace perfcast::ai
