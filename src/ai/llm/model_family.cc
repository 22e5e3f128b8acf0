#include "ai/llm/model_family.h"

namespace perfcast::ai {
namespace {

void give_biases(LlmConfig& config) {
  config.norm = NormKind::kLayerNorm;
  config.norm_bias = true;
  config.qkv_bias = config.attention_out_bias = config.ffn_bias = true;
}

void learn_positions(LlmConfig& config, int64_t more_rows) {
  config.positions = PositionKind::kLearned;
  config.position_rows = config.max_positions + more_rows;
}

void make_encoder(LlmConfig& config, LlmKind kind) {
  give_biases(config);
  config.kind = kind;
  config.activation = ActivationKind::kGelu;
  config.language_head = false;
  config.fused_qkv = false;
}

void make_llama(LlmConfig& config) {
  config.positions = PositionKind::kRotary;
  config.norm = NormKind::kRmsNorm;
  config.gated_ffn = true;
  config.activation = ActivationKind::kSilu;
}

void make_gemma(LlmConfig& config) {
  make_llama(config);
  config.activation = ActivationKind::kGeluTanh;
  config.tied_embeddings = true;
}

}  // namespace

void apply_family(ModelFamily family, LlmConfig& config) {
  switch (family) {
    case ModelFamily::kGpt2:
      give_biases(config);
      learn_positions(config, 0);
      config.activation = ActivationKind::kGeluTanh;
      config.tied_embeddings = true;
      return;
    case ModelFamily::kOpt:
      give_biases(config);
      learn_positions(config, 2);
      config.activation = ActivationKind::kRelu;
      config.tied_embeddings = true;
      config.fused_qkv = false;
      return;
    case ModelFamily::kBert:
      make_encoder(config, LlmKind::kEncoder);
      learn_positions(config, 0);
      config.final_norm = false;
      config.embedding_norm = true;
      config.pooler = true;
      return;
    case ModelFamily::kVit:
      make_encoder(config, LlmKind::kVision);
      config.max_positions = config.vision.tokens();
      learn_positions(config, 0);
      return;
    case ModelFamily::kLlama:
      return make_llama(config);
    case ModelFamily::kQwen2:
      make_llama(config);
      config.qkv_bias = true;
      return;
    case ModelFamily::kQwen3:
      make_llama(config);
      config.qk_norm = true;
      return;
    case ModelFamily::kGemma:
      return make_gemma(config);
    case ModelFamily::kGemma2:
      make_gemma(config);
      config.norms_per_layer = 4;
      return;
    case ModelFamily::kGemma3:
      make_gemma(config);
      config.norms_per_layer = 4;
      config.qk_norm = true;
      return;
    case ModelFamily::kPhi2:
      give_biases(config);
      config.positions = PositionKind::kRotary;
      config.activation = ActivationKind::kGeluTanh;
      config.norms_per_layer = 1;
      config.parallel_attention = true;
      config.head_bias = true;
      return;
    case ModelFamily::kGptNeox:
      give_biases(config);
      config.positions = PositionKind::kRotary;
      config.activation = ActivationKind::kGelu;
      config.parallel_attention = true;
      return;
    case ModelFamily::kFalcon:
      config.norm = NormKind::kLayerNorm;
      config.norm_bias = true;
      config.positions = PositionKind::kRotary;
      config.activation = ActivationKind::kGelu;
      config.norms_per_layer = 1;
      config.parallel_attention = true;
      config.tied_embeddings = true;
      return;
  }
}

}  // namespace perfcast::ai
