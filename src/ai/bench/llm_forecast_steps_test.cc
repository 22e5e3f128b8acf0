#include "ai/bench/llm_forecast_steps.h"

#include <gtest/gtest.h>

#include "ai/llm_forecast/llm_forecast.h"
#include "ai/llm_forecast/roofline_model.h"
#include "ai/transformer/transformer_model.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

TransformerComparison comparison_of(Precision precision) {
  TransformerComparison comparison;
  comparison.request.precision = precision;
  comparison.request.prompt_tokens = 128;
  comparison.request.new_tokens = 64;
  comparison.facts.cpu = "invented";
  comparison.facts.read = {{1e6, 1e11}, {5e8, 2e10}};
  comparison.facts.fp32_flops_per_s = 1e11;
  comparison.facts.int8_ops_per_s = 4e11;
  ComparedTransformer model;
  model.config = built_in_transformer("perfcast-110m")->config;
  for (const int64_t batch : {1, 4}) {
    for (const LlmPhase phase : {LlmPhase::kPrefill, LlmPhase::kDecode}) {
      ComparedStep step;
      step.point = {phase, batch, phase == LlmPhase::kPrefill ? 128 : 160};
      step.measured_s = 1;
      model.steps.push_back(step);
    }
  }
  comparison.models.push_back(std::move(model));
  return comparison;
}

// What `llm forecast` gives of a device file with the same figures.
TEST(LlmForecastSteps, AreThoseOfADeviceWithTheMeasuredFigures) {
  const TransformerComparison comparison = comparison_of(Precision::kFp32);
  const auto steps = llm_forecast_steps(comparison, comparison.models[0]);
  ASSERT_TRUE(steps) << to_text(steps.error());
  ASSERT_EQ(steps->size(), 4u);
  DeviceFacts device;
  device.name = "invented";
  device.kind = DeviceKind::kCpu;
  device.memory_bytes_per_s = 2e10;
  device.peak_flops[static_cast<size_t>(MathMode::kFp32)] = 1e11;
  auto forecaster = LlmForecaster::create(comparison.models[0].config, *RooflineModel::create(device));
  ASSERT_TRUE(forecaster);
  LlmRequest request;
  request.batch = 4;
  request.sequence = 128;
  request.output_tokens = 64;
  request.weights = request.activations = request.kv = Precision::kFp32;
  LlmForecast forecast;
  ASSERT_TRUE(forecaster->forecast(request, forecast));
  EXPECT_EQ((*steps)[2].phase, LlmPhase::kPrefill);
  EXPECT_EQ((*steps)[2].batch, 4);
  EXPECT_DOUBLE_EQ((*steps)[2].forecast_s, forecast.prefill_s);
  EXPECT_DOUBLE_EQ((*steps)[3].forecast_s, forecast.token_s);
  // A token reads all weights at three quarters of the bandwidth.
  EXPECT_NEAR((*steps)[1].forecast_s, 4 * 112.7e6 / (0.75 * 2e10), 0.1 * (*steps)[1].forecast_s);
  for (const LlmForecastStep& step : *steps) {
    EXPECT_LT(step.lower_s, step.forecast_s);
    EXPECT_LT(step.forecast_s, step.upper_s);
    EXPECT_EQ(step.outside(), step.upper_s < 1 || step.lower_s > 1);
  }
  const Json rows = rows_json(llm_steps_table(*steps));
  EXPECT_EQ(rows[0]["measured_s"], 1);
  EXPECT_EQ(rows[3]["phase"], "decode");
}

TEST(LlmForecastSteps, BytesReadAQuarter) {
  const TransformerComparison fp32 = comparison_of(Precision::kFp32), int8 = comparison_of(Precision::kInt8);
  const auto wide = llm_forecast_steps(fp32, fp32.models[0]), narrow = llm_forecast_steps(int8, int8.models[0]);
  ASSERT_TRUE(wide && narrow);
  EXPECT_NEAR((*narrow)[1].forecast_s / (*wide)[1].forecast_s, 0.25, 0.05);
}

TEST(LlmForecastSteps, WithoutAMeasuredBandwidthThereIsNone) {
  TransformerComparison comparison = comparison_of(Precision::kInt8);
  comparison.facts.read.clear();
  const auto steps = llm_forecast_steps(comparison, comparison.models[0]);
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.error().code, "bad-device");
  // No units for bytes: computed in single precision.
  comparison = comparison_of(Precision::kInt8);
  comparison.facts.int8_ops_per_s = kUnknown;
  EXPECT_TRUE(llm_forecast_steps(comparison, comparison.models[0]));
}

}  // namespace
}  // namespace perfcast::ai
