#include "ai/llm/hf_config_reader.h"

#include <gtest/gtest.h>

#include "ai/llm/model_catalogue.h"
#include "base/random.h"

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

// Numbers of parameters as the makers publish them, or as they follow from the tensors of the published files.
struct PublishedFile {
  const char* json;
  int64_t parameters;
};
constexpr PublishedFile kPublishedFiles[] = {
    // Gemma 3 4B, its text part, as transformers writes it: what equals the class is left out.
    {R"({"model_type": "gemma3", "text_config": {"hidden_size": 2560, "intermediate_size": 10240,
        "model_type": "gemma3_text", "num_hidden_layers": 34, "sliding_window": 1024}})",
     3'880'263'168},
    // Gemma 3 12B and 27B.
    {R"({"model_type": "gemma3", "text_config": {"hidden_size": 3840, "intermediate_size": 15360,
        "model_type": "gemma3_text", "num_attention_heads": 16, "num_hidden_layers": 48, "num_key_value_heads": 8}})",
     11'766'034'176},
    {R"({"model_type": "gemma3", "text_config": {"head_dim": 128, "hidden_size": 5376, "intermediate_size": 21504,
        "num_attention_heads": 32, "num_hidden_layers": 62, "num_key_value_heads": 16}})",
     27'009'346'304},
    // Gemma 2 2B is its class, Gemma 7B, too.
    {R"({"model_type": "gemma2", "hidden_size": 2304, "num_hidden_layers": 26})", 2'614'341'888},
    {R"({"model_type": "gemma", "hidden_size": 3072, "num_hidden_layers": 28})", 8'537'680'896},
    // The text part of LLaVA 1.5 7B: Llama 2 7B with 64 more words.
    {R"({"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064}})", 6'738'939'904},
    {R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32})", 7'241'732'096},
    {R"({"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32})", 46'702'792'704},
    {R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61})", 671'026'419'200},
    {R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 24, "num_local_experts": 32})",
     20'914'757'184},
    {R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 36})", 116'829'156'672},
    // Llama 4 Scout and Maverick, their text parts.
    {R"({"model_type": "llama4", "text_config": {}})", 107'769'861'120},
    {R"({"model_type": "llama4", "text_config": {"interleave_moe_layer_step": 2, "num_local_experts": 128}})",
     400'711'848'960},
    {R"({"model_type": "smollm3", "hidden_size": 2048, "num_hidden_layers": 36})", 3'075'098'624},
    {R"({"model_type": "olmo2", "hidden_size": 4096, "num_hidden_layers": 32, "vocab_size": 100352})", 7'298'617'344},
    {R"({"model_type": "granite", "hidden_size": 4096, "intermediate_size": 12800, "num_hidden_layers": 40,
        "num_key_value_heads": 8, "tie_word_embeddings": true, "vocab_size": 49155})",
     8'170'848'256},
    {R"({"model_type": "olmo", "hidden_size": 4096, "num_hidden_layers": 32})", 6'888'095'744},
    // Mamba Codestral 7B.
    {R"({"model_type": "mamba2", "hidden_size": 4096, "num_hidden_layers": 64, "time_step_limit": [0.0, Infinity]})",
     7'285'403'648},
    // Hybrids: Bamba 9B, Jamba v0.1, Nemotron-H 8B, Nemotron 3 Nano 30B, Granite 4.0 H Tiny.
    {R"({"model_type": "bamba", "hidden_size": 4096, "num_hidden_layers": 32, "vocab_size": 128256,
        "mamba_d_state": 128, "attn_layer_indices": [9, 18, 27], "time_step_limit": [0.0, Infinity]})",
     9'780'235'392},
    {R"({"model_type": "jamba", "hidden_size": 4096, "num_hidden_layers": 32})", 51'570'323'328},
    {R"({"model_type": "nemotron_h", "hidden_size": 4096,
        "hybrid_override_pattern": "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-"})",
     8'100'852'736},
    {R"({"model_type": "nemotron_h", "hidden_size": 2688, "num_key_value_heads": 2, "mamba_num_heads": 64,
        "n_routed_experts": 128, "num_experts_per_tok": 6, "moe_intermediate_size": 1856,
        "moe_shared_expert_intermediate_size": 3712,
        "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"})",
     31'577'940'288},
    {R"({"model_type": "granitemoehybrid", "hidden_size": 1536, "intermediate_size": 512, "num_attention_heads": 12,
        "num_hidden_layers": 40, "num_key_value_heads": 4, "num_local_experts": 64, "num_experts_per_tok": 6,
        "shared_intermediate_size": 1024, "vocab_size": 100352, "tie_word_embeddings": true, "mamba_n_heads": 48,
        "mamba_d_state": 128, "layer_types": ["mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba",
        "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba",
        "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba", "mamba", "mamba",
        "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba", "mamba"]})",
     6'939'037'248},
};

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

// What transformers would write of the same model: in any order, with what equals the class left out or not, within
// another model's file or not.
TEST(HfConfigReader, ReadsTheSameFromEveryWayToWriteIt) {
  Random random(13);
  const std::vector<std::pair<std::string, std::string>> class_sizes = {
      {"vocab_size", "262208"},        {"num_attention_heads", "8"}, {"num_key_value_heads", "4"}, {"head_dim", "256"},
      {"tie_word_embeddings", "true"}, {"sliding_window", "4096"},   {"intermediate_size", "9216"}};
  for (int round = 0; round < 300; ++round) {
    std::vector<std::pair<std::string, std::string>> fields = {
        {"model_type", "\"gemma3_text\""}, {"hidden_size", "2304"}, {"num_hidden_layers", "26"}};
    for (const auto& field : class_sizes) {
      if (random.below(2) == 0) fields.push_back(field);
    }
    if (random.below(2) == 0) fields.emplace_back("limit", random.below(2) == 0 ? "[0.0, Infinity]" : "NaN");
    random.shuffle(fields);
    std::string text;
    for (const auto& [key, value] : fields) text += (text.empty() ? "\"" : ", \"") + key + "\": " + value;
    text = "{" + text + "}";
    if (random.below(2) == 0) text = R"({"model_type": "gemma3", "text_config": )" + text + "}";
    const LlmConfig config = read(text);
    ASSERT_EQ(count_parameters(config)->total, 2'628'658'432) << text;
    ASSERT_EQ(config.windowed_layers, 22) << text;
    ASSERT_EQ(config.sliding_window, 4096) << text;
  }
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
