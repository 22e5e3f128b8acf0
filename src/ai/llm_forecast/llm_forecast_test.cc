#include "ai/llm_forecast/llm_forecast.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/llm/model_catalogue.h"
#include "ai/llm_forecast/testing/test_devices.h"
#include "base/random.h"

namespace perfcast::ai {
namespace {

using testing::datacenter_gpu;
using testing::device_of;
using testing::forecast_of;
using testing::forecaster_of;
using testing::tiny_llama;

TEST(LlmForecast, RequestMemoryEnergyAndCostByHand) {
  DeviceFacts facts = device_of("slow memory", DeviceKind::kCpu, 1e12, 1e6);
  facts.memory_bytes = 1e6;
  DeviceTerms terms;
  terms.power_w = 100;
  terms.price_per_hour = 3.6;
  LlmForecaster forecaster = forecaster_of(tiny_llama(), facts, terms);
  LlmRequest request;
  request.sequence = 30;
  request.output_tokens = 3;
  const LlmForecast forecast = forecast_of(forecaster, request);
  EXPECT_EQ(forecast.mean_context, 32);
  EXPECT_NEAR(forecast.token_s, 169800 / 1e6 + 8704 / (1e6 / 0.75 * 0.7), 1e-12);  // as in step_time_test.cc
  EXPECT_DOUBLE_EQ(forecast.tokens_per_s, 1 / forecast.token_s);
  EXPECT_DOUBLE_EQ(forecast.lower, forecast.tokens_per_s * std::exp(-kInterval90 * forecast.token.log_sd));
  EXPECT_DOUBLE_EQ(forecast.upper, forecast.tokens_per_s * std::exp(kInterval90 * forecast.token.log_sd));
  EXPECT_DOUBLE_EQ(forecast.request_s, forecast.prefill_s + 2 * forecast.token_s);
  EXPECT_DOUBLE_EQ(forecast.output_per_s, 3 / forecast.request_s);
  // 100 W and a tenth of a cent each second, for a third of a million requests.
  EXPECT_NEAR(forecast.energy_j_per_million, 100 * forecast.request_s * 1e6 / 3, 1e-6);
  EXPECT_NEAR(forecast.cost_per_million, 0.001 * forecast.request_s * 1e6 / 3, 1e-9);

  EXPECT_DOUBLE_EQ(forecast.memory.weights, 2.0 * static_cast<double>(count_parameters(tiny_llama())->total));
  EXPECT_DOUBLE_EQ(forecast.memory.kv, 33.0 * 2 * 2 * 2 * 16 * 2);  // tokens, layers, keys and values, heads, width
  EXPECT_DOUBLE_EQ(forecast.memory.reserve, 1e5);
  EXPECT_DOUBLE_EQ(forecast.memory.total,
                   forecast.memory.weights + forecast.memory.kv + forecast.memory.activations + 1e5);
  EXPECT_FALSE(forecast.calibrated);
}

// Where bytes bound the step, the memory is as busy as the model says it can be kept, and the units hardly at all.
TEST(LlmForecast, WattsAreThoseOfTheSharesOfThePeaks) {
  DeviceFacts facts = device_of("slow memory", DeviceKind::kGpu, 1e12, 1e6);
  facts.power_w = 300;
  LlmForecaster forecaster = forecaster_of(tiny_llama(), facts);
  LlmRequest request;
  request.sequence = 30;
  request.output_tokens = 3;
  const LlmForecast forecast = forecast_of(forecaster, request);
  ASSERT_TRUE(forecast.power_is_modelled);
  const auto watts = [&](const StepTime& step) {
    return 300 *
           (kAwakeShare + kMemoryShare * step.memory_s / step.seconds + kComputeShare * step.compute_s / step.seconds);
  };
  EXPECT_NEAR(forecast.token.memory_s, 169800 / 1e6 * 0.75, 0.03);
  const double joules = watts(forecast.prefill) * forecast.prefill_s + watts(forecast.token) * 2 * forecast.token_s;
  EXPECT_NEAR(forecast.power_w, joules / forecast.request_s, 1e-9);
  EXPECT_NEAR(forecast.energy_j_per_million, joules * 1e6 / 3, 1e-3);
  EXPECT_EQ(forecast.power_log_sd, kOtherPowerLogDeviation);
  // Of a CPU nothing says what such a load draws.
  facts.kind = DeviceKind::kCpu;
  LlmForecaster cpu = forecaster_of(tiny_llama(), facts);
  EXPECT_EQ(forecast_of(cpu, request).power_w, 300);
  facts.power_w = kUnknown;
  LlmForecaster unstated = forecaster_of(tiny_llama(), facts);
  EXPECT_TRUE(std::isnan(forecast_of(unstated, request).energy_j_per_million));
}

TEST(LlmForecast, FitsUpToTheLastByte) {
  DeviceFacts facts = datacenter_gpu();
  const auto config = built_in_model("llama3-8b");
  LlmRequest request;
  request.sequence = 4096;
  request.batch = 8;
  LlmForecaster roomy = forecaster_of(*config, facts);
  const LlmForecast forecast = forecast_of(roomy, request);
  ASSERT_TRUE(forecast.memory.fits());
  const double need = forecast.memory.total - forecast.memory.reserve;
  facts.memory_bytes = need / (1 - kMemoryReserve) + 1;
  LlmForecaster just = forecaster_of(*config, facts);
  EXPECT_TRUE(forecast_of(just, request).memory.fits());
  EXPECT_EQ(forecast_of(just, request).memory.missing(), 0);
  facts.memory_bytes -= 1001;
  LlmForecaster tight = forecaster_of(*config, facts);
  const MemoryNeed memory = forecast_of(tight, request).memory;
  EXPECT_FALSE(memory.fits());
  EXPECT_NEAR(memory.missing(), 900, 1);
  EXPECT_EQ(tight.smallest_tensor_parallel(request), 2);
  facts.memory_bytes = kUnknown;
  LlmForecaster unknown = forecaster_of(*config, facts);
  EXPECT_FALSE(forecast_of(unknown, request).memory.known());
  EXPECT_EQ(unknown.smallest_tensor_parallel(request), std::nullopt);
  facts.memory_bytes = 1e6;
  LlmForecaster small = forecaster_of(*config, facts);
  EXPECT_EQ(small.smallest_tensor_parallel(request), std::nullopt);
}

TEST(LlmForecast, LargestModelsTakeSeveralDevices) {
  LlmRequest request;
  request.sequence = 1024;
  const auto devices_for = [&](const char* name) {
    LlmForecaster forecaster = forecaster_of(*built_in_model(name), datacenter_gpu());
    return forecaster.smallest_tensor_parallel(request).value_or(0);
  };
  EXPECT_EQ(devices_for("llama3-8b"), 1);
  EXPECT_EQ(devices_for("llama3-70b"), 2);  // 141 GB on 72 GB each
  EXPECT_EQ(devices_for("gpt3"), 6);        // 349 GB; 5 don't divide 96 heads
}

// On the roofline, where no efficiency falls as work grows.
TEST(LlmForecast, MoreBatchNeverLowersThroughputAndLongerContextIsNeverFaster) {
  for (const char* name : {"gpt2", "llama2-7b", "llama3-70b", "mixtral-8x7b", "deepseek-v3"}) {
    LlmForecaster forecaster = forecaster_of(*built_in_model(name), datacenter_gpu());
    LlmRequest request;
    request.output_tokens = 16;
    for (request.sequence = 32; request.sequence <= 1000; request.sequence *= 5) {
      double before = 0;
      for (request.batch = 1; request.batch <= 512; request.batch *= 2) {
        const LlmForecast forecast = forecast_of(forecaster, request);
        EXPECT_GE(forecast.tokens_per_s, before * (1 - 1e-12)) << name << " batch " << request.batch;
        before = forecast.tokens_per_s;
      }
    }
    request.batch = 4;
    double token_s = 0, prefill_s = 0;
    for (request.sequence = 1; request.sequence <= 1000; request.sequence = request.sequence * 3 / 2 + 1) {
      const LlmForecast forecast = forecast_of(forecaster, request);
      EXPECT_GE(forecast.token_s, token_s) << name << " sequence " << request.sequence;
      EXPECT_GE(forecast.prefill_s, prefill_s) << name << " sequence " << request.sequence;
      token_s = forecast.token_s;
      prefill_s = forecast.prefill_s;
    }
  }
}

TEST(LlmForecast, DevicesShareWeightsProductsAndCache) {
  LlmForecaster forecaster = forecaster_of(*built_in_model("llama3-70b"), datacenter_gpu());
  LlmRequest request;
  request.sequence = 2048;
  request.batch = 16;
  const LlmForecast one = forecast_of(forecaster, request);
  request.tensor_parallel = 4;
  const LlmForecast four = forecast_of(forecaster, request);
  EXPECT_NEAR(four.memory.weights, one.memory.weights / 4, 0.001 * one.memory.weights);
  EXPECT_DOUBLE_EQ(four.memory.kv, one.memory.kv / 4);
  for (const OperatorClass part : {OperatorClass::kFeedForward, OperatorClass::kProjections}) {
    EXPECT_NEAR(four.prefill.seconds_of(part), one.prefill.seconds_of(part) / 4, 0.02 * one.prefill.seconds_of(part));
  }
  EXPECT_EQ(one.token.seconds_of(OperatorClass::kCollectives), 0);
  EXPECT_GT(four.token.seconds_of(OperatorClass::kCollectives), 0);
  EXPECT_LT(four.token_s, one.token_s);
  EXPECT_GT(four.token_s, one.token_s / 4);  // collectives are not free
}

TEST(LlmForecast, NarrowWeightsShortenWhatWaitsForMemory) {
  LlmForecaster forecaster = forecaster_of(*built_in_model("llama3-8b"), datacenter_gpu());
  LlmRequest request;
  request.sequence = 512;
  const double half = forecast_of(forecaster, request).token_s;
  request.weights = Precision::kQ4_0;
  const double packed = forecast_of(forecaster, request).token_s;
  EXPECT_LT(packed, half / 2.5);  // 4.5 of 16 bits
  EXPECT_GT(packed, half * 4.5 / 16);
}

TEST(LlmForecast, EncodersHaveNoTokensToWaitFor) {
  LlmForecaster forecaster = forecaster_of(*built_in_model("bert-large"), datacenter_gpu());
  LlmRequest request;
  request.sequence = 512;
  request.batch = 8;
  const LlmForecast forecast = forecast_of(forecaster, request);
  EXPECT_FALSE(forecast.generates);
  EXPECT_TRUE(std::isnan(forecast.token_s));
  EXPECT_EQ(forecast.memory.kv, 0);
  EXPECT_DOUBLE_EQ(forecast.tokens_per_s, 8 * 512 / forecast.prefill_s);
  EXPECT_EQ(forecast.request_s, forecast.prefill_s);
}

TEST(LlmForecast, WhatIsRememberedChangesNothing) {
  const auto config = built_in_model("mixtral-8x7b");
  LlmForecaster warm = forecaster_of(*config, datacenter_gpu());
  Random random(7);
  for (int turn = 0; turn < 200; ++turn) {
    LlmRequest request;
    request.batch = 1 + static_cast<int64_t>(random.below(64));
    request.sequence = 1 + static_cast<int64_t>(random.below(4000));
    request.tensor_parallel = int64_t{1} << random.below(4);
    if (random.below(2) == 1) request.weights = Precision::kInt4;
    LlmForecaster fresh = forecaster_of(*config, datacenter_gpu());
    const LlmForecast a = forecast_of(warm, request), b = forecast_of(fresh, request);
    EXPECT_EQ(a.prefill_s, b.prefill_s);
    EXPECT_EQ(a.token_s, b.token_s);
    EXPECT_EQ(a.lower, b.lower);
    EXPECT_EQ(a.memory.total, b.memory.total);
  }
}

TEST(LlmForecast, RefusesWhatTheModelCanNot) {
  LlmForecaster forecaster = forecaster_of(*built_in_model("gpt2"), datacenter_gpu());
  LlmRequest request;
  request.sequence = 1000;
  request.output_tokens = 25;
  LlmForecast forecast;
  Status status = forecaster.forecast(request, forecast);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where, "output-tokens");
  request.output_tokens = 24;
  EXPECT_TRUE(forecaster.forecast(request, forecast));
  request.output_tokens = 0;
  status = forecaster.forecast(request, forecast);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where, "output-tokens");
  request.output_tokens = 1;
  request.batch = int64_t{1} << 50;
  EXPECT_FALSE(forecaster.forecast(request, forecast));
  request.batch = 1;
  request.tensor_parallel = 5;
  status = forecaster.forecast(request, forecast);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where, "tensor-parallel");
  LlmConfig broken = tiny_llama();
  broken.heads = 0;
  EXPECT_FALSE(LlmForecaster::create(broken, testing::roofline(datacenter_gpu())));
}

TEST(LlmForecast, UsualPromptLeavesRoom) {
  EXPECT_EQ(usual_prompt(*built_in_model("gpt2"), 128), 1024 - 128);
  EXPECT_EQ(usual_prompt(*built_in_model("gpt2"), 5000), 1);
  EXPECT_EQ(usual_prompt(*built_in_model("llama3.1-8b"), 128), 2048);
  EXPECT_EQ(usual_prompt(*built_in_model("vit-base"), 128), 197);
}

}  // namespace
}  // namespace perfcast::ai
