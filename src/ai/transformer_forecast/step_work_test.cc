#include "ai/transformer_forecast/step_work.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ai/transformer/transformer_model.h"

namespace perfcast::ai {
namespace {

const OperatorWork& of_name(const StepWork& step, OperatorName name) {
  return *std::find_if(step.operators.begin(), step.operators.end(),
                       [&](const auto& each) { return each.name == name; });
}

TEST(StepWork, ATokenReadsEveryWeightOnce) {
  const LlmConfig config = built_in_transformer("perfcast-15m")->config;
  const auto step = step_work(config, Precision::kFp32, {LlmPhase::kDecode, 2, 100});
  ASSERT_TRUE(step);
  const auto parameters = count_parameters(config);
  const double norms = static_cast<double>(parameters->norm);
  const double cache = 2 * 4.0 * 100 * static_cast<double>(config.cache_values_per_token() * config.layers);
  EXPECT_EQ(step->footprint_bytes, 4 * (static_cast<double>(parameters->total) - norms) + cache);
  EXPECT_EQ(step->weights, static_cast<double>(parameters->total) - norms);
  const OperatorWork& qkv = of_name(*step, OperatorName::kQkvProjection);
  EXPECT_EQ(qkv.form, WorkForm::kFewRows);
  EXPECT_EQ(qkv.count, 8);
  EXPECT_EQ(qkv.rows, 2);
  EXPECT_EQ(qkv.panels, 8);
  const OperatorWork& attention = of_name(*step, OperatorName::kScores);
  EXPECT_EQ(attention.tasks, 4);  // two sequences, two heads of keys
  EXPECT_EQ(attention.kv_bytes, 2 * 2 * 4.0 * 128 * 100);
  EXPECT_EQ(step->operators.back().name, kStepRest);
}

TEST(StepWork, LongPromptsHaveOperatorsForEachPass) {
  const LlmConfig config = built_in_transformer("perfcast-15m")->config;
  const auto step = step_work(config, Precision::kInt8, {LlmPhase::kPrefill, 3, 250});
  ASSERT_TRUE(step);
  double rows = 0;
  int64_t passes = 0, heads = 0;
  for (const OperatorWork& work : step->operators) {
    if (work.name == OperatorName::kLanguageHead) ++heads;
    if (work.name != OperatorName::kFfnDown) continue;
    ++passes;
    rows += work.rows;
    EXPECT_EQ(work.form, WorkForm::kManyRows);
    EXPECT_EQ(work.weight_bytes, 768.0 * 256);
  }
  EXPECT_EQ(passes, 2);
  EXPECT_EQ(rows, 512 + 240);  // 750 tokens, in whole blocks of rows
  EXPECT_EQ(heads, 2);         // two prompts end in the first pass
  EXPECT_EQ(of_name(*step, OperatorName::kLanguageHead).rows, 2);
}

TEST(StepWork, OtherFormsAreRefused) {
  LlmConfig config = built_in_transformer("perfcast-15m")->config;
  config.qk_norm = true;
  EXPECT_EQ(step_work(config, Precision::kFp32, {}).error().code, "unsupported-model");
}

}  // namespace
}  // namespace perfcast::ai
