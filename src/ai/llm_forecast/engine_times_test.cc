#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ai/llm/model_catalogue.h"
#include "ai/llm_forecast/forecast_report.h"
#include "ai/llm_forecast/testing/test_devices.h"
#include "base/csv.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

using testing::datacenter_gpu;
using testing::forecast_of;
using testing::forecaster_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::roofline;
using testing::tiny_llama;

DeviceFacts nvidia_gpu(const std::string& name = "Big GPU") {
  DeviceFacts facts = datacenter_gpu(name);
  facts.vendor = "NVIDIA";
  facts.generation = "hopper";
  facts.units = 100;
  facts.clock_hz = 1e9;
  facts.process_nm = 4;
  return facts;
}

std::shared_ptr<const EngineProfile> profile() {
  EngineProfile round;
  round.name = "round";
  round.version = "1.0";
  round.basis = EngineBasis::kMeasured;
  round.source = "invented";
  round.rows = 12;
  round.devices = {"Big GPU"};
  EngineConstants& constants = round.constants;
  constants.weight_bandwidth_share = constants.cache_bandwidth_share = 1;
  constants.step_cycles = 1e6;  // 1 ms at 1 GHz
  constants.kernel_cycles = 1e3;
  constants.all_reduce_cycles = 1e4;
  constants.host_step_ms = 2;
  constants.first_fixed_ms = 10;
  constants.prompt_token_us = 5;
  constants.link_bandwidth_share = constants.pcie_bandwidth_share = 0.5;
  round.spread.token_one_log_sd = 0.05;
  round.spread.first_one_log_sd = 0.1;
  return std::make_shared<const EngineProfile>(round);
}

DeviceTerms with_engine(double level = 1) {
  DeviceTerms terms;
  terms.engine.profile = profile();
  terms.engine.host.level = level;
  terms.engine.host.known = true;
  terms.engine.host.cpu = "Round CPU";
  return terms;
}

DeviceTerms of_graphs() {  // kernels as an engine records them
  DeviceTerms terms;
  terms.step.launch = LaunchMode::kGraph;
  return terms;
}

LlmRequest request_of(int64_t batch, Precision weights = Precision::kFp16) {
  LlmRequest request;
  request.batch = batch;
  request.sequence = 1000;
  request.output_tokens = 101;
  request.weights = weights;
  return request;
}

TEST(EngineTimes, SingleStreamsAreTheEngines) {
  const LlmConfig config = *built_in_model("llama3-8b");
  LlmForecaster forecaster = forecaster_of(config, nvidia_gpu(), with_engine());
  const LlmForecast forecast = forecast_of(forecaster, request_of(1));
  EngineRequest request;
  request.prompt_tokens = 1000;
  request.output_tokens = 101;
  request.sampler = sampler_defaults(config);
  const auto engine =
      forecast_engine(*profile(), *engine_work(config, request), nvidia_gpu(), with_engine().engine.host);
  ASSERT_TRUE(engine);
  EXPECT_EQ(forecast.basis, TimeBasis::kEngine);
  EXPECT_EQ(forecast.engine_unmeasured, 0u);
  EXPECT_TRUE(forecast.calibrated);
  EXPECT_DOUBLE_EQ(forecast.token_s, engine->token.seconds);
  EXPECT_DOUBLE_EQ(forecast.prefill_s, engine->first.seconds);
  EXPECT_NEAR(forecast.client_token_s, (forecast.prefill_s + 100 * forecast.token_s) / 101, 1e-15);
  EXPECT_NEAR(forecast.client_token_s, engine->client_token_s, 1e-15);
  EXPECT_NEAR(forecast.upper, forecast.tokens_per_s * std::exp(engine->token_log_half_width), 1e-9);
  EXPECT_EQ(forecast.token.bound(), Bound::kMemory);
  // 16 GB of weights at 2 TB/s, beside 2 ms of a host that works at the same time.
  EXPECT_NEAR(forecast.engine.token.weights_s, 0.0075, 0.0002);
  EXPECT_DOUBLE_EQ(forecast.engine.token.host_s, 0.002);
}

TEST(EngineTimes, AModelThatWaitsForItsHostSaysSo) {
  LlmForecaster slow = forecaster_of(tiny_llama(), nvidia_gpu(), with_engine());
  LlmForecaster fast = forecaster_of(tiny_llama(), nvidia_gpu(), with_engine(4));
  const LlmForecast waiting = forecast_of(slow, request_of(1)), quick = forecast_of(fast, request_of(1));
  EXPECT_DOUBLE_EQ(waiting.token_s, 0.002);
  EXPECT_EQ(waiting.token.bound(), Bound::kLaunch);
  EXPECT_EQ(waiting.prefill.bound(), Bound::kLaunch);
  EXPECT_DOUBLE_EQ(quick.token_s, quick.engine.token.device_s);  // 1 ms of a step beside half of one
  EXPECT_EQ(quick.token.bound(), Bound::kStart);
}

// What the operators take by their kernels counts beside a host that works in between.
TEST(EngineTimes, AHostThatTakesLessThanTheOperatorsIsNoBound) {
  DeviceTerms terms = with_engine();
  EngineProfile in_between = *terms.engine.profile;
  in_between.overlaps_host = false;
  terms.engine.profile = std::make_shared<const EngineProfile>(in_between);
  LlmForecaster forecaster = forecaster_of(*built_in_model("llama3-8b"), nvidia_gpu(), terms);
  const LlmForecast forecast = forecast_of(forecaster, request_of(1, Precision::kQ4_K_M));
  EXPECT_EQ(forecast.basis, TimeBasis::kEngineOnKernels);
  EXPECT_GT(forecast.engine.token_operators_s, 0.002);
  EXPECT_EQ(forecast.engine.token.host_s, 0.002);
  EXPECT_EQ(forecast.token.bound(), Bound::kMemory);
}

// 256 prompts of 1000 tokens are read in steps of 8192 tokens, and held as a cache.
TEST(EngineTimes, ActivationsAreThoseOfOneStep) {
  const LlmConfig config = *built_in_model("llama3-8b");
  LlmForecaster forecaster = forecaster_of(config, nvidia_gpu(), with_engine());
  LlmForecaster kernels = forecaster_of(config, nvidia_gpu(), of_graphs());
  const MemoryNeed engine = forecast_of(forecaster, request_of(256)).memory,
                   whole = forecast_of(kernels, request_of(256)).memory;
  EXPECT_EQ(engine.kv, whole.kv);
  EXPECT_NEAR(engine.activations, whole.activations * 8192 / 256000, 1);
  EXPECT_EQ(forecast_of(forecaster, request_of(8)).memory.activations,
            forecast_of(kernels, request_of(8)).memory.activations);
}

TEST(EngineTimes, ABatchIsASingleStreamAndWhatItsFellowsAdd) {
  const LlmConfig config = *built_in_model("llama3-8b");
  LlmForecaster forecaster = forecaster_of(config, nvidia_gpu(), with_engine());
  LlmForecaster kernels = forecaster_of(config, nvidia_gpu(), of_graphs());
  const LlmForecast one = forecast_of(forecaster, request_of(1)), eight = forecast_of(forecaster, request_of(8));
  const LlmForecast k1 = forecast_of(kernels, request_of(1)), k8 = forecast_of(kernels, request_of(8));
  EXPECT_EQ(eight.basis, TimeBasis::kEngineOnKernels);
  EXPECT_EQ(eight.engine_unmeasured, uint32_t{kUnmeasuredBatch});
  EXPECT_FALSE(eight.calibrated);  // its kernels aren't
  EXPECT_NEAR(eight.token_s, one.token_s + k8.token.device_seconds - k1.token.device_seconds, 1e-12);
  // Seven further prompts on the device, and their tokens through the tokeniser.
  EXPECT_NEAR(eight.prefill_s, one.prefill_s + k8.prefill.device_seconds - k1.prefill.device_seconds + 7 * 1000 * 5e-6,
              1e-9);
  EXPECT_GE(eight.token.log_sd, k8.token.log_sd);
  // As before, though a batch came between.
  EXPECT_EQ(forecast_of(forecaster, request_of(1)).token_s, one.token_s);
  EXPECT_EQ(forecast_of(forecaster, request_of(8)).token_s, eight.token_s);
}

TEST(EngineTimes, WhatNobodyMeasuredStandsOnKernels) {
  const LlmConfig config = *built_in_model("llama3-8b");
  LlmForecaster forecaster = forecaster_of(config, nvidia_gpu(), with_engine());
  LlmForecaster kernels = forecaster_of(config, nvidia_gpu(), of_graphs());
  const LlmForecast narrow = forecast_of(forecaster, request_of(1, Precision::kInt8));
  const LlmForecast alone = forecast_of(kernels, request_of(1, Precision::kInt8));
  EXPECT_EQ(narrow.basis, TimeBasis::kEngineOnKernels);
  EXPECT_EQ(narrow.engine_unmeasured, uint32_t{kUnmeasuredPrecision});
  EXPECT_NEAR(narrow.token_s, alone.token.device_seconds + 0.001, 1e-12);
  EXPECT_NEAR(narrow.prefill_s, alone.prefill.device_seconds + 0.001 + 0.010 + 1000 * 5e-6, 1e-9);
  EXPECT_EQ(narrow.engine.token.weights_s, 0);

  DeviceTerms timed = with_engine();
  timed.engine.kernels = true;
  LlmForecaster on_timed = forecaster_of(config, nvidia_gpu(), timed);
  const LlmForecast of_timed = forecast_of(on_timed, request_of(1)), k1 = forecast_of(kernels, request_of(1));
  EXPECT_EQ(of_timed.basis, TimeBasis::kEngineOnKernels);
  EXPECT_NEAR(of_timed.token_s, k1.token.device_seconds + 0.001, 1e-12);
}

TEST(EngineTimes, WhereNoEngineRunsKernelsAreAsTheyWere) {
  LlmForecaster other = forecaster_of(*built_in_model("llama3-8b"), datacenter_gpu(), with_engine());
  LlmForecaster plain = forecaster_of(*built_in_model("llama3-8b"), datacenter_gpu());
  const LlmForecast forecast = forecast_of(other, request_of(4)), kernels = forecast_of(plain, request_of(4));
  EXPECT_EQ(forecast.basis, TimeBasis::kKernels);
  EXPECT_EQ(forecast.token_s, kernels.token_s);
  EXPECT_EQ(forecast.prefill_s, kernels.prefill_s);
  EXPECT_THAT(why_no_engine(*built_in_model("llama3-8b"), datacenter_gpu()), HasSubstr("NVIDIA GPUs"));
  EXPECT_EQ(why_no_engine(*built_in_model("bert-base"), nvidia_gpu()), "the model generates no tokens");
  DeviceFacts bare = nvidia_gpu();
  bare.clock_hz = kUnknown;
  EXPECT_THAT(why_no_engine(*built_in_model("llama3-8b"), bare), HasSubstr("clock_hz"));
  EXPECT_EQ(why_no_engine(*built_in_model("llama3-8b"), nvidia_gpu()), "");
}

LlmForecastReport report_of(std::vector<int64_t> batches, const DeviceTerms& terms, bool several) {
  SweepGrid grid;
  grid.request = request_of(1);
  grid.batches = std::move(batches);
  grid.sequences = {500};
  std::vector<ForecastDevice> devices = {{roofline(nvidia_gpu()), terms}};
  DeviceFacts slow = nvidia_gpu("Slow GPU");
  slow.memory_bytes_per_s /= 4;
  DeviceTerms cheap = terms;
  cheap.price_per_hour /= 8;
  if (several) devices.push_back({roofline(slow), cheap});
  if (several) devices.push_back({roofline(datacenter_gpu("Other GPU")), terms});
  auto report = report_forecast(*built_in_model("llama3-8b"), devices, grid);
  EXPECT_TRUE(report) << to_text(report.error());
  return *std::move(report);
}

TEST(EngineTimes, TextsSayWhichEngineAndWhatWasMeasured) {
  DeviceTerms terms = with_engine();
  terms.price_per_hour = 4;
  const std::string several = forecast_text(report_of({1}, terms, true));
  EXPECT_THAT(several, ::testing::StartsWith("fastest: Big GPU: "));
  EXPECT_THAT(several, HasSubstr("\ncheapest: Slow GPU: "));
  EXPECT_THAT(several, HasSubstr("\nengine: round 1.0, host Round CPU\n"));
  EXPECT_THAT(several, HasSubstr("fitted to 12 measured single streams"));
  EXPECT_THAT(several, HasSubstr("kernels only, no engine, on Other GPU: engines were measured on NVIDIA GPUs"));
  EXPECT_THAT(several, Not(HasSubstr("+ kernels")));

  const std::string batches = forecast_text(report_of({1, 8}, terms, false));
  EXPECT_THAT(batches, HasSubstr("round 1.0 + kernels\n"));
  EXPECT_THAT(batches, HasSubstr("note: + kernels: nobody measured round here with several requests at once"));
  EXPECT_THAT(batches, Not(HasSubstr("fastest")));  // one device

  terms.engine.host = {};
  const std::string one = forecast_text(report_of({1}, terms, false));
  EXPECT_THAT(one, HasSubstr("engine: round 1.0, host not known"));
  EXPECT_THAT(one, HasSubstr("the host's CPU is not known (--host)"));
  EXPECT_THAT(one, HasSubstr("client's time per token"));
  EXPECT_THAT(one, HasSubstr("HTTP, scheduler, client"));
  EXPECT_THAT(one, HasSubstr("host, at the same time"));
  EXPECT_THAT(one, Not(HasSubstr("projections")));
  EXPECT_THAT(forecast_text(report_of({1}, {}, false)), HasSubstr("engine: none, kernels alone"));
}

TEST(EngineTimes, JsonAndCsvHaveThePartsOfBothTimes) {
  DeviceTerms terms = with_engine();
  terms.price_per_hour = 4;
  const LlmForecastReport report = report_of({1, 8}, terms, true);
  const Json json = forecast_json(report);
  EXPECT_EQ(json["fastest_row"], 0);
  EXPECT_EQ(json["cheapest_row"], 3);  // the slow device, batch 8
  const Json& one = json["rows"][0];
  EXPECT_EQ(one["engine"], "round 1.0");
  EXPECT_EQ(one["engine_basis"], "measured");
  EXPECT_EQ(one["host_level"], 1);
  EXPECT_FALSE(one.contains("engine_unmeasured"));
  const Json& token = one["token_parts"];
  EXPECT_NEAR(one["token_s"].get<double>(),
              token["weights_s"].get<double>() + token["small_kernels_s"].get<double>() +
                  token["attention_s"].get<double>() + token["all_reduce_s"].get<double>() +
                  token["operators_s"].get<double>(),
              1e-12);
  double sum = 0;
  for (const auto& [name, seconds] : one["first_token_parts"].items()) sum += seconds.get<double>();
  EXPECT_NEAR(one["prefill_s"].get<double>(), sum, 1e-12);
  EXPECT_EQ(json["rows"][1]["engine_basis"], "on kernels");
  EXPECT_EQ(json["rows"][1]["engine_unmeasured"], "several requests at once");
  EXPECT_EQ(json["rows"][4]["engine_basis"], "kernels only");
  EXPECT_FALSE(json["rows"][4].contains("engine"));
  const auto table = CsvTable::parse(forecast_csv(report), "forecast.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->cell(0, *table->column("engine")), "round 1.0");
  EXPECT_EQ(table->cell(4, *table->column("engine")), "");
}

}  // namespace
}  // namespace perfcast::ai
