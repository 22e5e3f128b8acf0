#include "ai/transformer/transformer_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

TEST(TransformerModel, BuiltInOnesHaveTheirNumberOfParameters) {
  const std::vector<double> millions = {14.5, 112.7, 405.3};
  const auto names = built_in_transformers();
  ASSERT_EQ(names.size(), millions.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const auto model = built_in_transformer(names[i]);
    ASSERT_TRUE(model);
    EXPECT_TRUE(check_transformer(model->config));
    const auto parameters = count_parameters(model->config);
    ASSERT_TRUE(parameters);
    EXPECT_NEAR(static_cast<double>(parameters->total) / 1e6, millions[i], 0.1) << names[i];
  }
  const auto unknown = built_in_transformer("perfcast-1b");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "unknown-model");
}

TEST(TransformerModel, OtherFormsAreRefusedWithAllThatIsOther) {
  LlmConfig config = built_in_transformer("perfcast-15m")->config;
  config.qkv_bias = true;
  config.qk_norm = true;
  config.hidden = 200;
  const auto status = check_transformer(config);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, "unsupported-model");
  EXPECT_THAT(status.error().message, testing::HasSubstr("biases; norms of queries and keys; width 200, no multiple"));
  config.layers = 0;
  EXPECT_EQ(check_transformer(config).error().code, "bad-model-config");
}

}  // namespace
}  // namespace perfcast::ai
