#include "ai/llm/hf_config_reader.h"

#include <gtest/gtest.h>

#include "ai/llm/model_catalogue.h"
#include "ai/llm/testing/published_configs.h"

namespace perfcast::ai {
namespace {

using testing::kPublishedFiles;
using testing::kSameAsBuiltIn;
using testing::PublishedFile;

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
          "num_hidden_layers": 3, "num_key_value_heads": 4, "vocab_size": 10, "sliding_window": 8,
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

TEST(HfConfigReader, TakesFromTheClassWhatTheFileLeavesOut) {
  for (const PublishedFile& each : kPublishedFiles) {
    const auto read = parse_hf_config(each.json, "config.json");
    ASSERT_TRUE(read) << each.json << to_text(read.error());
    EXPECT_EQ(count_parameters(*read)->total, each.parameters) << each.json;
  }
}

LlmConfig read(const std::string& text) {
  const auto config = parse_hf_config(text, "config.json");
  EXPECT_TRUE(config) << text << to_text(config.error());
  return config ? *config : LlmConfig();
}

TEST(HfConfigReader, ClassesSayWindowsAndGroups) {
  const LlmConfig gemma = read(kPublishedFiles[0].json);
  EXPECT_EQ(gemma.head_dim, 256);
  EXPECT_EQ(gemma.kv_heads, 4);
  EXPECT_EQ(gemma.windowed_layers, 29);  // of 34 every sixth attends to all
  EXPECT_EQ(gemma.sliding_window, 1024);
  EXPECT_TRUE(gemma.tied_embeddings);
  ASSERT_EQ(gemma.notes.size(), 1U);
  EXPECT_EQ(gemma.notes[0],
            "left out of the file, so as transformers' class for gemma3_text has it: num_attention_heads 8, "
            "num_key_value_heads 4, head_dim 256, vocab_size 262208");
  // Left out is the class's window, null is none.
  const std::string mistral = R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32)";
  EXPECT_EQ(read(mistral + "}").windowed_layers, 32);
  EXPECT_EQ(read(mistral + R"(, "sliding_window": null})").windowed_layers, 0);
  EXPECT_EQ(read(mistral + R"(, "num_key_value_heads": null})").kv_heads, 32);
  EXPECT_EQ(
      read(R"({"model_type": "gemma2", "hidden_size": 2304, "num_hidden_layers": 26, "head_dim": null})").head_dim,
      288);
  const LlmConfig oss = read(R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 36})");
  EXPECT_EQ(oss.windowed_layers, 18);
  EXPECT_EQ(oss.sliding_window, 128);
  const LlmConfig scout = read(R"({"model_type": "llama4", "text_config": {"attention_chunk_size": 8192}})");
  EXPECT_EQ(scout.windowed_layers, 36);
  EXPECT_EQ(scout.moe.moe_layers, 48);
  EXPECT_EQ(scout.moe.shared_ffn, 8192);
  // A text part's own word on the head wins over the whole's, and this over the class's.
  const auto tied = [](const char* outer, const char* inner) {
    return read(std::string(R"({"model_type": "qwen2_vl")") + outer +
                R"(, "text_config": {"model_type": "qwen2_vl_text")" + inner + "}}")
        .tied_embeddings;
  };
  EXPECT_FALSE(tied("", ""));
  EXPECT_TRUE(tied(R"(, "tie_word_embeddings": true)", ""));
  EXPECT_FALSE(tied(R"(, "tie_word_embeddings": true)", R"(, "tie_word_embeddings": false)"));
}

TEST(HfConfigReader, WeightsAreAsTheyAreStored) {
  // 4 bits and a scale for each 128; embeddings and the head in bf16.
  const std::string quantization =
      R"("quantization_config": {"quant_method": "compressed-tensors", "ignore": ["lm_head"],
      "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 128, "type": "int", "symmetric": true}}}})";
  const std::string text = R"("model_type": "mistral", "hidden_size": 5120, "intermediate_size": 32768,
      "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
      "vocab_size": 131072, "sliding_window": null, "tie_word_embeddings": false)";
  const LlmConfig flat = read("{" + text + R"(, "dtype": "bfloat16", )" + quantization + "}");
  const double plain = 2.0 * 131072 * 5120 + 81 * 5120, packed = 23'572'403'200 - plain;
  EXPECT_DOUBLE_EQ(*flat.stored_weight_bytes, plain * 2 + packed * 4.125 / 8);
  EXPECT_EQ(flat.stored_weight_name, "int4");
  EXPECT_FALSE(flat.stored_activations);
  // The same, outside of the text part, or within it.
  for (const std::string& nested :
       {R"({"model_type": "mistral3", "dtype": "bfloat16", )" + quantization + R"(, "text_config": {)" + text + "}}",
        R"({"model_type": "mistral3", "text_config": {"dtype": "bfloat16", )" + quantization + ", " + text + "}}"}) {
    EXPECT_EQ(read(nested).stored_weight_bytes, flat.stored_weight_bytes) << nested;
    EXPECT_EQ(read(nested).notes, flat.notes);
  }
  // gpt-oss: its experts alone, 12.8 GiB in all.
  const LlmConfig oss = read(R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 24,
      "num_local_experts": 32, "quantization_config": {"quant_method": "mxfp4"}})");
  EXPECT_NEAR(*oss.stored_weight_bytes / (1 << 30), 12.8, 0.05);
  EXPECT_EQ(oss.stored_bits->attention, 16);
  EXPECT_EQ(oss.stored_bits->experts, 4.25);
  // DeepSeek-V3 ships as fp8 and computes in it.
  const LlmConfig deepseek = read(R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
      "torch_dtype": "bfloat16", "quantization_config": {"quant_method": "fp8", "fmt": "e4m3",
      "activation_scheme": "dynamic", "weight_block_size": [128, 128]}})");
  EXPECT_EQ(deepseek.stored_activations, Precision::kFp8);
  EXPECT_EQ(deepseek.stored_precision, Precision::kBf16);
  EXPECT_NEAR(*deepseek.stored_weight_bytes / 671'026'419'200, 1.003, 0.0005);
  EXPECT_EQ(built_in_model("deepseek-v3")->stored_weight_bytes, deepseek.stored_weight_bytes);
  EXPECT_EQ(built_in_model("gpt-oss-20b")->stored_weight_bytes, oss.stored_weight_bytes);
}

TEST(HfConfigReader, KnowsWhatStaysAsItWas) {
  const auto bits = [](const std::string& quantization) {
    const LlmConfig config = read(R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
        "torch_dtype": "float16", "quantization_config": {)" +
                                  quantization + "}}");
    return config.stored_bits.value_or(StoredBits{0, 0, 0, 0, 0});
  };
  EXPECT_DOUBLE_EQ(bits(R"("quant_method": "gptq", "bits": 4, "group_size": 128)").ffn, 4 + 20.0 / 128);
  EXPECT_DOUBLE_EQ(bits(R"("quant_method": "awq", "w_bit": 4, "q_group_size": 64)").attention, 4 + 20.0 / 64);
  EXPECT_EQ(bits(R"("quant_method": "gptq", "bits": 8, "group_size": -1)").ffn, 8);
  EXPECT_EQ(bits(R"("quant_method": "gptq", "bits": 8, "group_size": -1)").head, 16);
  EXPECT_EQ(bits(R"("quant_method": "bitsandbytes", "load_in_4bit": true)").ffn, 4.5);
  EXPECT_EQ(bits(R"("quant_method": "bitsandbytes", "load_in_8bit": true)").ffn, 8);
  EXPECT_EQ(bits(R"("quant_method": "modelopt", "quant_algo": "NVFP4")").ffn, 4.5);
  EXPECT_EQ(bits(R"("quant_method": "fp8", "modules_to_not_convert": ["re:.*self_attn.*", "lm_head"])").attention, 16);
  EXPECT_EQ(
      bits(R"("quant_method": "fp8", "ignored_layers": ["model.layers.0.self_attn.q_proj", "model.layers.1.mlp"])")
          .attention,
      8 + 8.0 / 128);
  EXPECT_EQ(bits(R"("quant_method": "fp8", "ignored_layers": ["model.layers.1.mlp"])").ffn, 8 + 8.0 / 32);
  EXPECT_EQ(bits(R"("quant_method": "fp8", "ignored_layers": ["model.layers.1.mlp.gate", "vision_tower.mlp"])").ffn, 8);
  const LlmConfig strange = read(R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
      "vocab_size": 9, "num_attention_heads": 32, "intermediate_size": 8, "quantization_config": {"quant_method": "zip"}})");
  EXPECT_FALSE(strange.stored_weight_bytes);
  ASSERT_EQ(strange.notes.size(), 1U);
  EXPECT_EQ(strange.notes[0], "the file's quantization_config (zip) is not known: give --weight-precision");
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
  // What comes from the class is named where it doesn't fit.
  EXPECT_NE(
      error_of(R"({"model_type": "mistral", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4})")
          .find("kv_heads is 8; left out of the file, so as transformers' class for mistral has it: "
                "num_key_value_heads 8, "),
      std::string::npos);
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
