// Sizes as the makers' own configuration files state them (config.json of the model's page; GPT-3: table 2.1 of Brown
// et al., 2020). model_catalogue_test.cc holds each row to the model's published number of parameters.
#include "ai/llm/model_table.h"

#include "ai/llm/stored_format.h"

namespace perfcast::ai {
namespace {

using Family = ModelFamily;

void experts(LlmConfig& config, int64_t experts, int64_t active, int64_t width, int64_t shared_width = 0,
             int64_t first_dense = 0) {
  config.moe = {experts, active, width, shared_width, config.layers - first_dense, false, false};
}

void windows(LlmConfig& config, int64_t window, int64_t full_layers) {
  config.sliding_window = window;
  config.windowed_layers = config.layers - full_layers;
}

// As DeepSeek ships its models: a scale for each block of 128 x 128 values.
void as_fp8(LlmConfig& config) {
  config.stored_precision = Precision::kBf16;
  store_quantised({.name = "fp8", .bits = 8 + 32.0 / (128 * 128), .activations = Precision::kFp8}, config);
}

void latent(LlmConfig& config, int64_t q_rank) { config.mla = {q_rank, 512, 128, 64, 128}; }

// The keynote's table: 51,200 rows of vocabulary, biases in the FFN alone, no norms among the parameters.
void as_on_the_slides(LlmConfig& config) {
  config.qkv_bias = config.attention_out_bias = config.norm_parameters = false;
  config.fused_qkv = false;
  config.notes.emplace_back(
      "gpt3 counts as the keynote's GEMM table (John, ICPE 2025) does: vocabulary 51,200, no norms, biases in the FFN "
      "alone, so "
      "174,606,385,152 "
      "parameters; gpt3-175b is the model with vocabulary 50,257, all biases and norms");
}

void token_types(LlmConfig& config) { config.token_types = 2; }

void vision(LlmConfig& config, int64_t patch) {
  config.vision = {224, patch, 3, 1000};
  config.max_positions = config.position_rows = config.vision.tokens();
}
void patch16(LlmConfig& config) { vision(config, 16); }
void patch14(LlmConfig& config) { vision(config, 14); }

void mistral(LlmConfig& config) { windows(config, 4096, 0); }
void phi3(LlmConfig& config) { windows(config, 2047, 0); }
void gemma2(LlmConfig& config) { windows(config, 4096, config.layers / 2); }
void gemma3(LlmConfig& config) { windows(config, 512, config.layers / 6); }

void mixtral_7b(LlmConfig& config) { experts(config, 8, 2, 14336); }
void mixtral_22b(LlmConfig& config) { experts(config, 8, 2, 16384); }
void qwen3_30b(LlmConfig& config) { experts(config, 128, 8, 768); }
void qwen3_235b(LlmConfig& config) { experts(config, 128, 8, 1536); }
void qwen15_moe(LlmConfig& config) {
  experts(config, 60, 4, 1408, 5632);
  config.moe.shared_gate = true;
}

void deepseek_v2_lite(LlmConfig& config) {
  latent(config, 0);
  experts(config, 64, 6, 1408, 2816, 1);
}
void deepseek_v2(LlmConfig& config) {
  latent(config, 1536);
  experts(config, 160, 6, 1536, 3072, 1);
}
void deepseek_v3(LlmConfig& config) {
  latent(config, 1536);
  experts(config, 256, 8, 2048, 2048, 3);
  config.moe.router_bias = true;
  as_fp8(config);
  config.notes.emplace_back("the main model of 61 layers, without the module that predicts a second token");
}

void kimi(LlmConfig& config) {
  latent(config, 1536);
  experts(config, 384, 8, 2048, 2048, 1);
  config.moe.router_bias = true;
}
void kimi_k2(LlmConfig& config) {
  kimi(config);
  as_fp8(config);
}
// As shipped: routed experts alone in 4 bits, with a scale for each 32 values.
void kimi_k2_5(LlmConfig& config) {
  kimi(config);
  config.stored_precision = Precision::kBf16;
  store_quantised({.name = "int4", .bits = 4.5, .activations = {}, .kept_attention = 1, .kept_ffn = 1}, config);
  config.notes.emplace_back("the language model alone, without the part that reads pictures");
}

void gpt_oss(LlmConfig& config, int64_t all_experts) {
  experts(config, all_experts, 4, 2880);
  config.qkv_bias = config.attention_out_bias = config.ffn_bias = config.moe.router_bias = true;
  config.attention_sinks = true;
  windows(config, 128, config.layers / 2);
  config.stored_precision = Precision::kBf16;
  store_quantised({.name = "mxfp4", .bits = 4.25, .activations = {}, .kept_attention = 1, .kept_ffn = 1}, config);
}
void gpt_oss_20b(LlmConfig& config) { gpt_oss(config, 32); }
void gpt_oss_120b(LlmConfig& config) { gpt_oss(config, 128); }

void llama4_scout(LlmConfig& config) {
  experts(config, 16, 1, 8192, 8192);
  windows(config, 8192, config.layers / 4);
}
void llama4_maverick(LlmConfig& config) {
  experts(config, 128, 1, 8192, 8192);
  config.moe.moe_layers = config.layers / 2;
  windows(config, 8192, config.layers / 4);
}

void phi2(LlmConfig& config) { config.rotary_dim = 32; }
void neox(LlmConfig& config) { config.rotary_dim = config.head_dim / 4; }

// Columns: tied head, layers, hidden, heads, kv heads, head dim, ffn, vocabulary, positions.
constexpr ModelRow kTable[] = {
    {"gpt3", Family::kGpt2, true, 96, 12288, 96, 96, 128, 49152, 51200, 2048, as_on_the_slides},
    {"gpt3-175b", Family::kGpt2, true, 96, 12288, 96, 96, 128, 49152, 50257, 2048, nullptr},
    {"gpt3-2.7b", Family::kGpt2, true, 32, 2560, 32, 32, 80, 10240, 50257, 2048, nullptr},
    {"gpt3-xl", Family::kGpt2, true, 24, 3072, 24, 24, 128, 12288, 50257, 2048, nullptr},
    {"gpt2", Family::kGpt2, true, 12, 768, 12, 12, 64, 3072, 50257, 1024, nullptr},
    {"gpt2-medium", Family::kGpt2, true, 24, 1024, 16, 16, 64, 4096, 50257, 1024, nullptr},
    {"gpt2-large", Family::kGpt2, true, 36, 1280, 20, 20, 64, 5120, 50257, 1024, nullptr},
    {"gpt2-xl", Family::kGpt2, true, 48, 1600, 25, 25, 64, 6400, 50257, 1024, nullptr},
    {"bert-base", Family::kBert, false, 12, 768, 12, 12, 64, 3072, 30522, 512, token_types},
    {"bert-large", Family::kBert, false, 24, 1024, 16, 16, 64, 4096, 30522, 512, token_types},
    {"vit-base", Family::kVit, false, 12, 768, 12, 12, 64, 3072, 0, 0, patch16},
    {"vit-large", Family::kVit, false, 24, 1024, 16, 16, 64, 4096, 0, 0, patch16},
    {"vit-huge", Family::kVit, false, 32, 1280, 16, 16, 80, 5120, 0, 0, patch14},
    {"opt-125m", Family::kOpt, true, 12, 768, 12, 12, 64, 3072, 50272, 2048, nullptr},
    {"opt-1.3b", Family::kOpt, true, 24, 2048, 32, 32, 64, 8192, 50272, 2048, nullptr},
    {"opt-6.7b", Family::kOpt, true, 32, 4096, 32, 32, 128, 16384, 50272, 2048, nullptr},
    {"gpt-neox-20b", Family::kGptNeox, false, 44, 6144, 64, 64, 96, 24576, 50432, 2048, neox},
    {"falcon-7b", Family::kFalcon, true, 32, 4544, 71, 1, 64, 18176, 65024, 2048, nullptr},
    {"llama2-7b", Family::kLlama, false, 32, 4096, 32, 32, 128, 11008, 32000, 4096, nullptr},
    {"llama2-13b", Family::kLlama, false, 40, 5120, 40, 40, 128, 13824, 32000, 4096, nullptr},
    {"llama2-70b", Family::kLlama, false, 80, 8192, 64, 8, 128, 28672, 32000, 4096, nullptr},
    {"codellama-34b", Family::kLlama, false, 48, 8192, 64, 8, 128, 22016, 32000, 16384, nullptr},
    {"llama3-8b", Family::kLlama, false, 32, 4096, 32, 8, 128, 14336, 128256, 8192, nullptr},
    {"llama3-70b", Family::kLlama, false, 80, 8192, 64, 8, 128, 28672, 128256, 8192, nullptr},
    {"llama3.1-8b", Family::kLlama, false, 32, 4096, 32, 8, 128, 14336, 128256, 131072, nullptr},
    {"llama3.1-70b", Family::kLlama, false, 80, 8192, 64, 8, 128, 28672, 128256, 131072, nullptr},
    {"llama3.1-405b", Family::kLlama, false, 126, 16384, 128, 8, 128, 53248, 128256, 131072, nullptr},
    {"llama3.2-1b", Family::kLlama, true, 16, 2048, 32, 8, 64, 8192, 128256, 131072, nullptr},
    {"llama3.2-3b", Family::kLlama, true, 28, 3072, 24, 8, 128, 8192, 128256, 131072, nullptr},
    {"llama3.3-70b", Family::kLlama, false, 80, 8192, 64, 8, 128, 28672, 128256, 131072, nullptr},
    {"llama4-scout", Family::kLlama, false, 48, 5120, 40, 8, 128, 16384, 202048, 10485760, llama4_scout},
    {"llama4-maverick", Family::kLlama, false, 48, 5120, 40, 8, 128, 16384, 202048, 1048576, llama4_maverick},
    {"gpt-oss-20b", Family::kLlama, false, 24, 2880, 64, 8, 64, 2880, 201088, 131072, gpt_oss_20b},
    {"gpt-oss-120b", Family::kLlama, false, 36, 2880, 64, 8, 64, 2880, 201088, 131072, gpt_oss_120b},
    {"mistral-7b", Family::kLlama, false, 32, 4096, 32, 8, 128, 14336, 32000, 32768, mistral},
    {"mixtral-8x7b", Family::kLlama, false, 32, 4096, 32, 8, 128, 14336, 32000, 32768, mixtral_7b},
    {"mixtral-8x22b", Family::kLlama, false, 56, 6144, 48, 8, 128, 16384, 32000, 65536, mixtral_22b},
    {"qwen-72b", Family::kQwen2, false, 80, 8192, 64, 64, 128, 24576, 152064, 32768, nullptr},
    {"qwen1.5-0.5b", Family::kQwen2, true, 24, 1024, 16, 16, 64, 2816, 151936, 32768, nullptr},
    {"qwen1.5-moe-a2.7b", Family::kQwen2, false, 24, 2048, 16, 16, 128, 5632, 151936, 8192, qwen15_moe},
    {"qwen2.5-0.5b", Family::kQwen2, true, 24, 896, 14, 2, 64, 4864, 151936, 32768, nullptr},
    {"qwen2.5-1.5b", Family::kQwen2, true, 28, 1536, 12, 2, 128, 8960, 151936, 131072, nullptr},
    {"qwen2.5-7b", Family::kQwen2, false, 28, 3584, 28, 4, 128, 18944, 152064, 131072, nullptr},
    {"qwen2.5-14b", Family::kQwen2, false, 48, 5120, 40, 8, 128, 13824, 152064, 131072, nullptr},
    {"qwen2.5-32b", Family::kQwen2, false, 64, 5120, 40, 8, 128, 27648, 152064, 131072, nullptr},
    {"qwen2.5-72b", Family::kQwen2, false, 80, 8192, 64, 8, 128, 29568, 152064, 131072, nullptr},
    {"qwen3-0.6b", Family::kQwen3, true, 28, 1024, 16, 8, 128, 3072, 151936, 40960, nullptr},
    {"qwen3-8b", Family::kQwen3, false, 36, 4096, 32, 8, 128, 12288, 151936, 40960, nullptr},
    {"qwen3-32b", Family::kQwen3, false, 64, 5120, 64, 8, 128, 25600, 151936, 40960, nullptr},
    {"qwen3-30b-a3b", Family::kQwen3, false, 48, 2048, 32, 4, 128, 6144, 151936, 40960, qwen3_30b},
    {"qwen3-235b-a22b", Family::kQwen3, false, 94, 4096, 64, 4, 128, 12288, 151936, 40960, qwen3_235b},
    {"deepseek-v2-lite", Family::kLlama, false, 27, 2048, 16, 16, 192, 10944, 102400, 163840, deepseek_v2_lite},
    {"deepseek-v2", Family::kLlama, false, 60, 5120, 128, 128, 192, 12288, 102400, 163840, deepseek_v2},
    {"deepseek-v3", Family::kLlama, false, 61, 7168, 128, 128, 192, 18432, 129280, 163840, deepseek_v3},
    {"deepseek-r1", Family::kLlama, false, 61, 7168, 128, 128, 192, 18432, 129280, 163840, deepseek_v3},
    {"kimi-k2", Family::kLlama, false, 61, 7168, 64, 64, 192, 18432, 163840, 131072, kimi_k2},
    {"kimi-k2.5", Family::kLlama, false, 61, 7168, 64, 64, 192, 18432, 163840, 262144, kimi_k2_5},
    {"gemma-2b", Family::kGemma, true, 18, 2048, 8, 1, 256, 16384, 256000, 8192, nullptr},
    {"gemma-7b", Family::kGemma, true, 28, 3072, 16, 16, 256, 24576, 256000, 8192, nullptr},
    {"gemma2-2b", Family::kGemma2, true, 26, 2304, 8, 4, 256, 9216, 256000, 8192, gemma2},
    {"gemma2-9b", Family::kGemma2, true, 42, 3584, 16, 8, 256, 14336, 256000, 8192, gemma2},
    {"gemma2-27b", Family::kGemma2, true, 46, 4608, 32, 16, 128, 36864, 256000, 8192, gemma2},
    {"gemma3-1b", Family::kGemma3, true, 26, 1152, 4, 1, 256, 6912, 262144, 32768, gemma3},
    {"phi-2", Family::kPhi2, false, 32, 2560, 32, 32, 80, 10240, 51200, 2048, phi2},
    {"phi-3-mini", Family::kLlama, false, 32, 3072, 32, 32, 96, 8192, 32064, 4096, phi3},
    {"phi-4", Family::kLlama, false, 40, 5120, 40, 10, 128, 17920, 100352, 16384, nullptr},
    {"smollm-135m", Family::kLlama, true, 30, 576, 9, 3, 64, 1536, 49152, 2048, nullptr},
    {"smollm2-135m", Family::kLlama, true, 30, 576, 9, 3, 64, 1536, 49152, 8192, nullptr},
    {"internlm-20b", Family::kLlama, false, 60, 5120, 40, 40, 128, 13824, 103168, 4096, nullptr},
};

}  // namespace

std::span<const ModelRow> model_table() { return kTable; }

}  // namespace perfcast::ai
