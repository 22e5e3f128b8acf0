#include "ai/llm_forecast/cpu_forecast.h"

#include <gtest/gtest.h>

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

  request.cpus = {"EPYC 9999X"};
  const auto unknown = forecast_on_cpus(*bundle, *config, request);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "unknown-cpu");
}

}  // namespace
}  // namespace perfcast::ai
