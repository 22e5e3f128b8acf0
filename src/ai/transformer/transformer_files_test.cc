#include "ai/transformer/transformer_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "ai/transformer/testing/reference_transformer.h"
#include "ai/transformer/testing/safetensors_writer.h"
#include "base/file.h"

namespace perfcast::ai {
namespace {

constexpr const char* kConfig = R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 48,
  "num_attention_heads": 3, "num_key_value_heads": 1, "head_dim": 16, "intermediate_size": 112, "vocab_size": 150,
  "max_position_embeddings": 512, "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "hidden_act": "silu",
  "tie_word_embeddings": false, "rope_scaling": null})";

class Folder {
 public:
  explicit Folder(const std::string& name) : path_(testing::TempDir() + "transformer_files_" + name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file_atomically(path_ + "/" + name, text));
  }

 private:
  std::string path_;
};

WrittenTensor tensor_of(const WeightSource& weights, const std::string& name, WeightPart part, int64_t layer,
                        int64_t rows, int64_t inputs) {
  std::vector<float> all, row(static_cast<size_t>(inputs));
  for (int64_t i = 0; i < rows; ++i) {
    EXPECT_TRUE(weights.row(part, layer, i, row));
    all.insert(all.end(), row.begin(), row.end());
  }
  std::vector<int64_t> shape = {rows, inputs};
  if (name.find("norm") != std::string::npos) shape = {inputs};
  return {name, "F32", shape, float_bytes(all)};
}

// Random weights as files: two, as large models have several.
void write_weights(const Folder& folder, const WeightSource& weights) {
  folder.write("config.json", kConfig);
  for (int64_t layer = 0; layer < 2; ++layer) {
    const std::string inside = "model.layers." + std::to_string(layer) + ".";
    const auto tensor = [&](const char* name, WeightPart part, int64_t rows, int64_t inputs) {
      return tensor_of(weights, inside + name, part, layer, rows, inputs);
    };
    std::vector<WrittenTensor> tensors = {tensor("input_layernorm.weight", WeightPart::kAttentionNorm, 1, 48),
                                          tensor("self_attn.q_proj.weight", WeightPart::kQuery, 48, 48),
                                          tensor("self_attn.k_proj.weight", WeightPart::kKey, 16, 48),
                                          tensor("self_attn.v_proj.weight", WeightPart::kValue, 16, 48),
                                          tensor("self_attn.o_proj.weight", WeightPart::kAttentionOutput, 48, 48),
                                          tensor("post_attention_layernorm.weight", WeightPart::kFfnNorm, 1, 48),
                                          tensor("mlp.gate_proj.weight", WeightPart::kGate, 112, 48),
                                          tensor("mlp.up_proj.weight", WeightPart::kUp, 112, 48),
                                          tensor("mlp.down_proj.weight", WeightPart::kDown, 48, 112)};
    if (layer == 1) {
      tensors.push_back(tensor_of(weights, "model.embed_tokens.weight", WeightPart::kEmbedding, 0, 150, 48));
      tensors.push_back(tensor_of(weights, "model.norm.weight", WeightPart::kFinalNorm, 0, 1, 48));
      tensors.push_back(tensor_of(weights, "lm_head.weight", WeightPart::kHead, 0, 150, 48));
    }
    folder.write("part-" + std::to_string(layer) + ".safetensors", tensors_text(tensors));
  }
}

TEST(TransformerFiles, WeightsOfFilesRunAsTheSameOfASeed) {
  const Folder folder("whole");
  const RandomWeights weights(2, 21);
  write_weights(folder, weights);
  auto opened = open_transformer(folder.path(), 0, {});
  ASSERT_TRUE(opened) << to_text(opened.error());
  EXPECT_FALSE(opened->random_weights);
  auto expected = Transformer::random(small_transformer(false), 21, {});
  ASSERT_TRUE(expected);
  const std::vector<int32_t> tokens = {5, 140, 7, 7, 20};
  const SlotTokens prompt{0, tokens};
  std::vector<float> logits(150), same(150);
  ASSERT_TRUE(opened->transformer.prefill({&prompt, 1}, logits));
  ASSERT_TRUE(expected->prefill({&prompt, 1}, same));
  EXPECT_EQ(logits, same);
}

TEST(TransformerFiles, WhatIsMissingOrOfAnotherShapeIsNamed) {
  const Folder folder("broken");
  const RandomWeights weights(2, 21);
  write_weights(folder, weights);
  std::filesystem::remove(folder.path() + "/part-0.safetensors");
  auto opened = open_transformer(folder.path(), 0, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, "missing-tensor");
  EXPECT_THAT(opened.error().message, testing::HasSubstr("model.layers.0."));
  write_weights(folder, weights);
  folder.write("part-2.safetensors", tensors_text({{"lm_head.weight", "F32", {1}, "wxyz"}}));
  EXPECT_THAT(open_transformer(folder.path(), 0, {}).error().message, testing::HasSubstr("stands in two files"));
  folder.write("part-2.safetensors", "short");
  EXPECT_EQ(open_transformer(folder.path(), 0, {}).error().code, "bad-safetensors");
  std::filesystem::remove(folder.path() + "/part-2.safetensors");
  std::string config = kConfig;
  config.replace(config.find("112"), 3, "128");
  folder.write("config.json", config);
  EXPECT_THAT(open_transformer(folder.path(), 0, {}).error().expected, testing::HasSubstr("128 x 48"));
}

TEST(TransformerFiles, TensorsThatNothingWouldReadAreRefused) {
  const Folder folder("unused");
  const RandomWeights weights(2, 21);
  write_weights(folder, weights);
  const auto opened_with = [&](const std::string& name) {
    folder.write("more.safetensors", tensors_text({{name, "F32", {1}, "wxyz"}}));
    return open_transformer(folder.path(), 0, {});
  };
  for (const char* const name :
       {"model.layers.1.self_attn.q_proj.bias", "model.layers.2.mlp.up_proj.weight", "other"}) {
    const auto opened = opened_with(name);
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(opened.error().code, "unsupported-model");
    EXPECT_THAT(opened.error().message, testing::HasSubstr(name));
    EXPECT_THAT(opened.error().where, testing::HasSubstr("more.safetensors"));
  }
  EXPECT_TRUE(opened_with("model.layers.0.self_attn.rotary_emb.inv_freq"));
}

TEST(TransformerFiles, WhatIsNoFileIsNoWeights) {
  const Folder folder("pipe");
  folder.write("config.json", kConfig);
  ASSERT_EQ(mkfifo((folder.path() + "/model.safetensors").c_str(), 0600), 0);
  std::filesystem::create_directory(folder.path() + "/folder.safetensors");
  const auto opened = open_transformer(folder.path(), 0, {});
  ASSERT_TRUE(opened) << to_text(opened.error());
  EXPECT_TRUE(opened->random_weights);
}

TEST(TransformerFiles, AConfigAloneRunsWithRandomWeights) {
  const Folder folder("config");
  folder.write("config.json", kConfig);
  for (const std::string& path : {folder.path(), folder.path() + "/config.json", std::string("perfcast-15m")}) {
    TransformerOptions options;
    options.context = 8;
    const auto opened = open_transformer(path, 0, options);
    ASSERT_TRUE(opened) << to_text(opened.error());
    EXPECT_TRUE(opened->random_weights);
  }
  EXPECT_EQ(find_transformer("no-such-model").error().code, "unknown-model");
  EXPECT_EQ(find_transformer("gpt2").error().code, "unsupported-model");
  EXPECT_TRUE(find_transformer("llama-2-7b"));
}

TEST(TransformerFiles, NumbersOfAConfigAreReadAndScaledPositionsRefused) {
  const auto replaced = [](const std::string& from, const std::string& to) {
    std::string text = kConfig;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const auto model = parse_transformer_config(replaced("10000.0", "500000.0"), "c");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->rope_theta, 500000);
  EXPECT_EQ(model->norm_epsilon, 1e-5);
  const auto inner = parse_transformer_config(
      replaced("\"rope_scaling\": null", R"("rope_parameters": {"rope_type": "default", "rope_theta": 7.5})"), "c");
  ASSERT_TRUE(inner) << to_text(inner.error());
  EXPECT_EQ(inner->rope_theta, 7.5);
  const auto scaled = parse_transformer_config(
      replaced("\"rope_scaling\": null", R"("rope_scaling": {"rope_type": "llama3", "factor": 8})"), "c");
  ASSERT_FALSE(scaled);
  EXPECT_EQ(scaled.error().code, "unsupported-model");
  EXPECT_EQ(parse_transformer_config(replaced("10000.0", "0.5"), "c").error().code, "bad-json-field");
  EXPECT_EQ(parse_transformer_config(replaced("1e-05", "-1"), "c").error().code, "bad-json-field");
}

}  // namespace
}  // namespace perfcast::ai
