#include "ai/llm/hf_config_reader.h"

#include <gtest/gtest.h>

#include "ai/llm/model_catalogue.h"

namespace perfcast::ai {
namespace {

// Files as the models' makers would write them, reduced to the fields that count.
const std::pair<const char*, const char*> kSameAsBuiltIn[] = {
    {"llama3-8b", R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
      "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 8192,
      "hidden_act": "silu", "tie_word_embeddings": false})"},
    {"llama2-7b", R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32,
      "num_hidden_layers": 32, "vocab_size": 32000})"},
    {"mistral-7b", R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336, "sliding_window": 4096,
      "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 32000})"},
    {"mixtral-8x7b", R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
      "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 32000,
      "num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": null})"},
    {"qwen-72b", R"({"model_type": "qwen", "hidden_size": 8192, "intermediate_size": 49152, "num_attention_heads": 64,
      "num_hidden_layers": 80, "vocab_size": 152064, "no_bias": true})"},
    {"qwen2.5-7b", R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944,
      "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4, "vocab_size": 152064,
      "use_sliding_window": false, "sliding_window": 131072, "max_window_layers": 28})"},
    {"qwen1.5-moe-a2.7b", R"({"model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632,
      "num_attention_heads": 16, "num_hidden_layers": 24, "num_key_value_heads": 16, "vocab_size": 151936,
      "num_experts": 60, "num_experts_per_tok": 4, "moe_intermediate_size": 1408, "decoder_sparse_step": 1,
      "shared_expert_intermediate_size": 5632})"},
    {"qwen3-8b", R"({"model_type": "qwen3", "hidden_size": 4096, "intermediate_size": 12288, "head_dim": 128,
      "num_attention_heads": 32, "num_hidden_layers": 36, "num_key_value_heads": 8, "vocab_size": 151936})"},
    {"qwen3-30b-a3b", R"({"model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144, "head_dim": 128,
      "num_attention_heads": 32, "num_hidden_layers": 48, "num_key_value_heads": 4, "vocab_size": 151936,
      "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768, "mlp_only_layers": []})"},
    {"gemma-2b", R"({"model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384, "head_dim": 256,
      "num_attention_heads": 8, "num_hidden_layers": 18, "num_key_value_heads": 1, "vocab_size": 256000,
      "hidden_activation": "gelu_pytorch_tanh", "hidden_act": "gelu"})"},
    {"gemma2-9b", R"({"model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336, "head_dim": 256,
      "num_attention_heads": 16, "num_hidden_layers": 42, "num_key_value_heads": 8, "vocab_size": 256000,
      "sliding_window": 4096})"},
    {"phi-2", R"({"model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240, "num_attention_heads": 32,
      "num_hidden_layers": 32, "vocab_size": 51200, "partial_rotary_factor": 0.4, "hidden_act": "gelu_new"})"},
    {"phi-4", R"({"model_type": "phi3", "hidden_size": 5120, "intermediate_size": 17920, "num_attention_heads": 40,
      "num_hidden_layers": 40, "num_key_value_heads": 10, "vocab_size": 100352, "sliding_window": null})"},
    {"gpt2-xl", R"({"model_type": "gpt2", "n_layer": 48, "n_embd": 1600, "n_head": 25, "n_positions": 1024,
      "vocab_size": 50257, "activation_function": "gelu_new"})"},
    {"gpt-neox-20b", R"({"model_type": "gpt_neox", "hidden_size": 6144, "intermediate_size": 24576,
      "num_attention_heads": 64, "num_hidden_layers": 44, "vocab_size": 50432, "rotary_pct": 0.25})"},
    {"opt-1.3b", R"({"model_type": "opt", "hidden_size": 2048, "ffn_dim": 8192, "num_attention_heads": 32,
      "num_hidden_layers": 24, "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": 2048})"},
    {"falcon-7b", R"({"model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71, "num_hidden_layers": 32,
      "vocab_size": 65024, "multi_query": true, "parallel_attn": true, "bias": false, "alibi": false})"},
    {"bert-large", R"({"model_type": "bert", "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16,
      "num_hidden_layers": 24, "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2})"},
    {"deepseek-v3", R"({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432,
      "num_attention_heads": 128, "num_key_value_heads": 128, "num_hidden_layers": 61, "vocab_size": 129280,
      "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
      "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
      "first_k_dense_replace": 3, "moe_layer_freq": 1, "num_nextn_predict_layers": 1})"},
    {"deepseek-v2-lite", R"({"model_type": "deepseek_v2", "hidden_size": 2048, "intermediate_size": 10944,
      "num_attention_heads": 16, "num_hidden_layers": 27, "vocab_size": 102400, "q_lora_rank": null,
      "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 64,
      "n_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "first_k_dense_replace": 1})"},
};

TEST(HfConfigReader, IsTheBuiltInModel) {
  for (const auto& [name, text] : kSameAsBuiltIn) {
    const auto read = parse_hf_config(text, "config.json");
    ASSERT_TRUE(read) << name << ": " << to_text(read.error());
    const auto known = built_in_model(name);
    EXPECT_EQ(count_parameters(*read)->total, count_parameters(*known)->total) << name;
    EXPECT_EQ(count_parameters(*read)->active, count_parameters(*known)->active) << name;
    EXPECT_EQ(read->windowed_layers, known->windowed_layers) << name;
    EXPECT_EQ(read->sliding_window, known->sliding_window) << name;
    EXPECT_EQ(read->rotary_dim > 0 ? read->rotary_dim : read->head_dim,
              known->rotary_dim > 0 ? known->rotary_dim : known->head_dim)
        << name;
    EXPECT_EQ(read->activation, known->activation) << name;
    EXPECT_EQ(read->norms_per_layer, known->norms_per_layer) << name;
    EXPECT_EQ(read->parallel_attention, known->parallel_attention) << name;
    EXPECT_EQ(read->head_dim, known->head_dim) << name;
    EXPECT_EQ(read->kind, known->kind) << name;
  }
}

TEST(HfConfigReader, VisionTakesItsClassesFromTheLabels) {
  std::string labels;
  for (int i = 0; i < 1000; ++i) labels += (i > 0 ? ", \"" : "\"") + std::to_string(i) + "\": \"x\"";
  const auto read = parse_hf_config(
      R"({"model_type": "vit", "hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12,
          "num_hidden_layers": 12, "image_size": 224, "patch_size": 16, "id2label": {)" +
          labels + "}}",
      "config.json");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(count_parameters(*read)->total, 86'567'656);
}

TEST(HfConfigReader, TextPartOfAModelOfImages) {
  const auto read = parse_hf_config(
      R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 1152,
          "intermediate_size": 6912, "num_hidden_layers": 26, "num_attention_heads": 4, "num_key_value_heads": 1,
          "head_dim": 256, "vocab_size": 262144, "sliding_window": 512, "sliding_window_pattern": 6}})",
      "config.json");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(count_parameters(*read)->total, 999'885'952);
  EXPECT_EQ(read->windowed_layers, built_in_model("gemma3-1b")->windowed_layers);
}

TEST(HfConfigReader, LayerTypesSayWhichAreWindowed) {
  const auto read = parse_hf_config(
      R"({"model_type": "mistral", "hidden_size": 64, "intermediate_size": 64, "num_attention_heads": 4,
          "num_hidden_layers": 3, "vocab_size": 10, "sliding_window": 8,
          "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]})",
      "config.json");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_EQ(read->windowed_layers, 2);
}

TEST(HfConfigReader, StatesItsPrecision) {
  const auto with = [](const std::string& field) {
    const auto read =
        parse_hf_config(R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 64, "vocab_size": 9,
                                          "num_attention_heads": 4, "num_hidden_layers": 1)" +
                            field + "}",
                        "config.json");
    EXPECT_TRUE(read) << to_text(read.error());
    return *read;
  };
  EXPECT_FALSE(with("").stored_precision);
  EXPECT_EQ(with(R"(, "torch_dtype": "bfloat16")").stored_precision, Precision::kBf16);
  EXPECT_EQ(with(R"(, "dtype": "float32")").stored_precision, Precision::kFp32);
  const LlmConfig strange = with(R"(, "torch_dtype": "float4")");
  EXPECT_FALSE(strange.stored_precision);
  EXPECT_EQ(strange.notes.size(), 1U);
}

std::string error_of(const char* text) {
  const auto read = parse_hf_config(text, "c.json");
  return read ? "none" : read.error().code + ": " + read.error().message;
}

TEST(HfConfigReader, NamesEveryMissingField) {
  const std::string error = error_of(R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4})");
  EXPECT_EQ(error.substr(0, 15), "bad-json-field:");
  for (const char* field : {"num_hidden_layers", "intermediate_size", "vocab_size"}) {
    EXPECT_NE(error.find(std::string("c.json.") + field + ": found nothing"), std::string::npos) << error;
  }
  EXPECT_EQ(error.find("hidden_size: "), std::string::npos) << error;
}

TEST(HfConfigReader, RefusesWhatIsNoModel) {
  EXPECT_EQ(error_of("[]").substr(0, 15), "bad-json-field:");
  EXPECT_EQ(error_of("{").substr(0, 9), "bad-json:");
  EXPECT_EQ(error_of("{}"), "bad-json-field: c.json.model_type: found nothing, expected a string");
  EXPECT_EQ(error_of(R"({"model_type": "mamba"})"), "unknown-model-type: model_type 'mamba' is not known");
  const char* const kBad[] = {
      R"({"model_type": "gpt2", "n_layer": -1, "n_embd": 64, "n_head": 4, "vocab_size": 9, "n_positions": 8})",
      R"({"model_type": "gpt2", "n_layer": 0, "n_embd": 64, "n_head": 4, "vocab_size": 9, "n_positions": 8})",
      R"({"model_type": "gpt2", "n_layer": 1e3, "n_embd": 64, "n_head": 4, "vocab_size": 9, "n_positions": 8})",
      R"({"model_type": "gpt2", "n_layer": "2", "n_embd": 64, "n_head": 4, "vocab_size": 9, "n_positions": 8})",
      R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 65, "n_head": 4, "vocab_size": 9, "n_positions": 8})",
      R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 18446744073709551615, "n_head": 4, "vocab_size": 9,
          "n_positions": 8})",
      R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 4, "vocab_size": 9, "n_positions": 8,
          "activation_function": "square"})",
  };
  for (const char* text : kBad) EXPECT_EQ(error_of(text).substr(0, 15), "bad-json-field:") << text << error_of(text);
  // In range each, absurd together.
  EXPECT_EQ(error_of(R"({"model_type": "gpt2", "n_layer": 2147483648, "n_embd": 64, "n_head": 4, "vocab_size": 9,
                         "n_positions": 8})")
                .substr(0, 17),
            "bad-model-config:");
}

TEST(HfConfigReader, AMissingFileIsAnError) {
  EXPECT_FALSE(read_hf_config("/nonexistent/config.json"));
  EXPECT_FALSE(load_model("/nonexistent/model.gguf"));
  EXPECT_EQ(load_model("gpt2")->source, "built in");
}

}  // namespace
}  // namespace perfcast::ai
