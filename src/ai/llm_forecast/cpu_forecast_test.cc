#include "ai/llm_forecast/cpu_forecast.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/engine/testing/test_engine.h"
#include "ai/llm/model_catalogue.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

TEST(CpuForecast, OneRowForEachCpuAndSequence) {
  const auto bundle = read_token_bundle(PERFCAST_SOURCE_DIR "/data/bundles/cpu-tokens.json");
  const auto config = built_in_model("llama3-8b");
  ASSERT_TRUE(bundle && config);
  CpuForecastRequest request;
  request.cpus = {"EPYC 7763", "AMD EPYC 9R14"};
  request.sequences = {128, 1024};
  const auto forecast = forecast_on_cpus(*bundle, *config, request);
  ASSERT_TRUE(forecast) << forecast.error().message;
  ASSERT_EQ(forecast->rows.size(), 4U);
  EXPECT_EQ(forecast->rows[1].sequence, 1024);
  EXPECT_GT(forecast->rows[1].prefill_s, forecast->rows[0].prefill_s);
  EXPECT_DOUBLE_EQ(forecast->rows[1].token_s * forecast->rows[1].tokens_per_s, 1);
  const Json json = cpu_forecast_json(*forecast);
  EXPECT_EQ(json["schema"], "perfcast.llm.forecast/1");
  EXPECT_EQ(json["weights"], "q4_k_m");
  EXPECT_EQ(json["rows"].size(), 4U);

  // Of two prices the rows' own; one machine has none.
  request.cpus = {"EPYC 7763", "AMD EPYC 9R14", "Graviton3"};
  request.sequences = {128};
  request.usd_per_hour = {{"EPYC 7763", 3.6}};
  const auto priced = forecast_on_cpus(*bundle, *config, request);
  ASSERT_TRUE(priced) << priced.error().message;
  EXPECT_EQ(priced->rows[2].cpu.name, "Neoverse-V1");
  EXPECT_DOUBLE_EQ(priced->rows[0].usd_per_million, 1000 * priced->rows[0].token_s);
  EXPECT_TRUE(std::isnan(priced->rows[1].usd_per_million));
  EXPECT_NE(cpu_forecast_answer(*priced).find("; 2 rows without a price (--price CPU=USD)\n"), std::string::npos);
  EXPECT_TRUE(cpu_forecast_answer(*priced).starts_with("most tokens/s: ")) << cpu_forecast_answer(*priced);

  // A CPU that nobody measured, by its facts and its kin's bandwidth.
  CpuFacts other = *bundle->cpus.find("AMD EPYC 9R14", 16);
  other.name = "AMD Ryzen 9 7950X";
  other.read_bytes_per_s = unknown_bandwidth();
  request.cpus = {"7950X"};
  request.others = {{"7950X", other}};
  const auto kin = forecast_on_cpus(*bundle, *config, request);
  ASSERT_TRUE(kin) << kin.error().message;
  EXPECT_EQ(kin->rows[0].cpu.name, "AMD Ryzen 9 7950X");
  EXPECT_TRUE(kin->rows[0].cpu.bandwidth_imputed);
  EXPECT_EQ(cpu_forecast_answer(*kin), "");

  request.cpus = {"EPYC 9999X"};
  const auto unknown = forecast_on_cpus(*bundle, *config, request);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "unknown-cpu");
}

TEST(CpuForecast, UnderAServingEngine) {
  const auto bundle = read_token_bundle(PERFCAST_SOURCE_DIR "/data/bundles/cpu-tokens.json");
  const auto config = built_in_model("qwen2.5-0.5b");
  ASSERT_TRUE(bundle && config);
  const CpuEngineProfile profile = engine_test::cpu_profile();
  CpuForecastRequest request;
  request.cpus = {"EPYC 7763", "Neoverse-N2"};
  request.sequences = {256};
  request.vcpus = 16;
  request.engine = &profile;
  const auto forecast = forecast_on_cpus(*bundle, *config, request);
  ASSERT_TRUE(forecast) << to_text(forecast.error());
  ASSERT_EQ(forecast->rows.size(), 2U);
  EXPECT_EQ(forecast->engine, "vllm 1");
  EXPECT_EQ(forecast->weights, "of 16 bits");
  const CpuForecastRow& known = forecast->rows[0];
  EXPECT_EQ(known.weights, "fp16");
  EXPECT_EQ(known.measured, "vllm, bandwidth");
  EXPECT_EQ(known.details->machine.threads, 7);
  EXPECT_DOUBLE_EQ(known.tokens_per_s * known.token_s, 1);
  EXPECT_DOUBLE_EQ(known.tokens_per_s_90.high / known.tokens_per_s, std::exp(known.details->widths.further_token));
  EXPECT_EQ(forecast->rows[1].weights, "bf16");
  EXPECT_EQ(forecast->rows[1].measured, "bandwidth");
  const Json json = cpu_forecast_json(*forecast);
  EXPECT_EQ(json["rows"][0]["engine_basis"], "measured");
  EXPECT_FALSE(json["rows"][0].contains("engine_unmeasured"));

  const auto experts = built_in_model("mixtral-8x7b");
  ASSERT_TRUE(experts);
  const auto mixed = forecast_on_cpus(*bundle, *experts, request);
  ASSERT_TRUE(mixed) << to_text(mixed.error());
  EXPECT_EQ(mixed->unmeasured, "mixture of experts");
  EXPECT_EQ(cpu_forecast_json(*mixed)["rows"][0]["engine_basis"], "by physics");

  request.bits_per_value = 4.5;
  EXPECT_EQ(forecast_on_cpus(*bundle, *config, request).error().code, "unsupported-precision");
}

}  // namespace
}  // namespace perfcast::ai
