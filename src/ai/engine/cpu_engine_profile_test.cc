#include "ai/engine/cpu_engine_profile.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/engine/testing/test_engine.h"
#include "base/json.h"
#include "base/statistics.h"

namespace perfcast::ai {
namespace {

using engine_test::cpu;
using engine_test::cpu_profile;
using engine_test::cpu_work;

CpuEngineRequest request() {
  CpuEngineRequest asked;
  asked.precision = Precision::kFp16;
  asked.prompt_tokens = 100;
  asked.output_tokens = 11;
  return asked;
}

TEST(CpuEngineForecast, TimesAndIntervals) {
  const auto known = forecast_cpu_engine(cpu_profile(), cpu(), cpu_work(), request());
  ASSERT_TRUE(known) << to_text(known.error());
  EXPECT_DOUBLE_EQ(known->client_token_s, (known->times.first_s() + 10 * known->times.further_s()) / 11);
  EXPECT_TRUE(known->knows_cpu);
  EXPECT_TRUE(known->knows_model);
  EXPECT_DOUBLE_EQ(known->widths.client_token, 0.3);
  EXPECT_DOUBLE_EQ(known->widths.first_token, 0.5);

  LlmWork other = cpu_work();
  other.name = "eleven";
  const auto new_model = forecast_cpu_engine(cpu_profile(), cpu(), other, request());
  ASSERT_TRUE(new_model);
  EXPECT_FALSE(new_model->knows_model);
  EXPECT_DOUBLE_EQ(new_model->widths.client_token, 0.5);
  EXPECT_DOUBLE_EQ(new_model->widths.further_token, 0.4);
  other.weight_bytes *= 11;  // nearer to the large one
  EXPECT_DOUBLE_EQ(forecast_cpu_engine(cpu_profile(), cpu(), other, request())->widths.further_token, 0.9);

  CpuFacts imputed = cpu();
  imputed.bandwidth_imputed = true;
  imputed.model = 17;
  CpuEngineRequest with_experts = request();
  with_experts.unmeasured_log_sd = 0.5;
  const auto kin = forecast_cpu_engine(cpu_profile(), imputed, cpu_work(), with_experts);
  ASSERT_TRUE(kin);
  EXPECT_FALSE(kin->knows_cpu);
  EXPECT_DOUBLE_EQ(kin->widths.further_token, std::hypot(0.8, 0.5 * kNormal95));
}

TEST(CpuEngineForecast, Errors) {
  CpuEngineRequest bad = request();
  bad.output_tokens = 0;
  EXPECT_EQ(forecast_cpu_engine(cpu_profile(), cpu(), cpu_work(), bad).error().code, "bad-tokens");
  LlmWork empty = cpu_work();
  empty.weight_bytes = 0;
  EXPECT_EQ(forecast_cpu_engine(cpu_profile(), cpu(), empty, request()).error().code, "bad-llm-work");
  CpuEngineRequest bits = request();
  bits.precision = Precision::kQ4_0;
  EXPECT_EQ(forecast_cpu_engine(cpu_profile(), cpu(), cpu_work(), bits).error().code, "unsupported-precision");
}

TEST(CpuEngineProfile, WrittenAndRead) {
  const Json json = to_json(cpu_profile());
  const auto back = cpu_engine_profile_from(json, "p");
  ASSERT_TRUE(back) << to_text(back.error());
  EXPECT_EQ(to_json(*back), json);
  EXPECT_EQ(back->cpus, cpu_profile().cpus);
  EXPECT_EQ(back->models[1].left_out.client_token, 0.35);

  Json wrong = json;
  wrong["constants"]["host_ms"] = -1;
  wrong["constants"]["hots_ms"] = 1;
  wrong["measured"].erase("client_token_log_half_width");
  const auto read = cpu_engine_profile_from(wrong, "p");
  ASSERT_FALSE(read);
  for (const char* part : {"p.constants.host_ms: found -1, which no engine has", "hots_ms",
                           "p.measured.client_token_log_half_width: found nothing"}) {
    EXPECT_NE(read.error().message.find(part), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace perfcast::ai
