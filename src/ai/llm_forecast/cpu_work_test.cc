#include "ai/llm_forecast/cpu_work.h"

#include <gtest/gtest.h>

#include "ai/llm/model_catalogue.h"

namespace perfcast::ai {
namespace {

TEST(CpuWork, EqualsTheBenchmarksOwnFigures) {
  const struct {
    const char* column;
    const char* model;
  } same[] = {{"phi-4-q4", "phi-4"}, {"Llama-3.3-70B-Instruct-Q4_K_M", "llama3.3-70b"}};
  for (const auto& [column, model] : same) {
    const auto config = built_in_model(model);
    ASSERT_TRUE(config) << model;
    const auto work = cpu_work_of(*config, Precision::kQ4_K_M);
    ASSERT_TRUE(work);
    bool found = false;
    for (const BenchmarkLlm& llm : benchmark_llms()) {
      if (llm.column != column) continue;
      found = true;
      EXPECT_EQ(work->layers, llm.work.layers);
      EXPECT_NEAR(work->weight_bytes / llm.work.weight_bytes, 1, 0.05) << model;
      EXPECT_NEAR(work->prefill_macs_per_token / llm.work.prefill_macs_per_token, 1, 0.01) << model;
      EXPECT_NEAR(work->attention_macs_per_token_token / llm.work.attention_macs_per_token_token, 1, 1e-9) << model;
      EXPECT_NEAR(work->kv_bytes_per_token / llm.work.kv_bytes_per_token, 1, 1e-9) << model;
    }
    EXPECT_TRUE(found) << column;
  }
}

TEST(CpuWork, FilesSayWhatTheyStore) {
  const auto config = built_in_model("llama2-7b");
  ASSERT_TRUE(config);
  const auto half = cpu_work_of(*config, Precision::kFp16), bits = cpu_work_of(*config, Precision::kFp16, 4.0);
  ASSERT_TRUE(half && bits);
  EXPECT_NEAR(bits->weight_bytes, half->weight_bytes / 4, 1);
  EXPECT_TRUE(check_llm_work(*half));
}

TEST(CpuWork, EncodersGenerateNothing) {
  const auto config = built_in_model("bert-large");
  ASSERT_TRUE(config);
  EXPECT_EQ(cpu_work_of(*config, Precision::kFp16).error().code, "no-decoder");
}

}  // namespace
}  // namespace perfcast::ai
