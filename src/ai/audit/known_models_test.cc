#include "ai/audit/known_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ai/llm/model_catalogue.h"

namespace perfcast::ai {
namespace {

TEST(KnownModels, ShippedOnesHaveSourcesAndLanguageModels) {
  const auto models = read_known_models(PERFCAST_SOURCE_DIR "/data/audit/models.json");
  ASSERT_TRUE(models) << to_text(models.error());
  for (const KnownModel& model : models->models) {
    EXPECT_FALSE(model.sources.empty()) << model.name;
    EXPECT_TRUE(model.language_model.empty() || built_in_model(model.language_model).ok()) << model.name;
  }
  ASSERT_NE(find_known_model(*models, "ResNet50 v1.5"), nullptr);
  EXPECT_EQ(find_known_model(*models, "ResNet50 v1.5")->accuracy_ratio, 0.7646);
  EXPECT_EQ(find_known_model(*models, "resnet"), nullptr);
}

TEST(KnownModels, RefuseWhatNoModelHas) {
  const auto code = [](const std::string& model) {
    const auto models =
        parse_known_models(R"({"schema": "perfcast.audit-models/1", "models": [)" + model + "]}", "m.json");
    return models ? "ok" : models.error().code;
  };
  EXPECT_EQ(code(R"({"name": "a"})"), "ok");
  EXPECT_EQ(code(R"({"name": "a", "flops": 1})"), "bad-json-field");
  EXPECT_EQ(code(R"({"name": "a", "parameters": -1})"), "bad-json-field");
  EXPECT_EQ(code(R"({"name": "a", "accuracy": {"metric": "top-1", "ratio": 76}})"), "bad-json-field");
  EXPECT_EQ(code(R"({"name": "a-b"}, {"name": "c", "aliases": ["A b"]})"), "bad-model");
}

}  // namespace
}  // namespace perfcast::ai
