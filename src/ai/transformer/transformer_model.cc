#include "ai/transformer/transformer_model.h"

#include "ai/llm/model_family.h"
#include "ai/transformer/kernel/transformer_kernels.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

struct TransformerRow {
  std::string_view name;
  bool tied;
  int64_t layers, hidden, heads, kv_heads, ffn;
};

constexpr int64_t kHeadDim = 64, kVocabulary = 32000, kPositions = 4096;
constexpr TransformerRow kTransformers[] = {{"perfcast-15m", true, 8, 256, 4, 2, 768},
                                            {"perfcast-110m", true, 14, 768, 12, 4, 2048},
                                            {"perfcast-400m", false, 24, 1024, 16, 8, 3584}};

}  // namespace

std::vector<std::string> built_in_transformers() {
  std::vector<std::string> names;
  names.reserve(std::size(kTransformers));
  for (const TransformerRow& row : kTransformers) names.emplace_back(row.name);
  return names;
}

Result<TransformerModel> built_in_transformer(std::string_view name) {
  for (const TransformerRow& row : kTransformers) {
    if (row.name != name) continue;
    TransformerModel model;
    LlmConfig& config = model.config;
    apply_family(ModelFamily::kLlama, config);
    config.name = std::string(row.name);
    config.source = "built in";
    config.layers = row.layers;
    config.hidden = row.hidden;
    config.heads = row.heads;
    config.kv_heads = row.kv_heads;
    config.head_dim = kHeadDim;
    config.ffn = row.ffn;
    config.vocab = kVocabulary;
    config.tied_embeddings = row.tied;
    config.max_positions = kPositions;
    return model;
  }
  return usage_error("unknown-model", "there is no built-in transformer '" + printable(name.substr(0, 60)) + "'", "",
                     join(built_in_transformers(), ", ") + ", or a folder with config.json and safetensors");
}

Status check_transformer(const LlmConfig& config) {
  if (auto status = check_config(config); !status) return status;
  std::vector<std::string> wrong;
  const auto refuse = [&](bool is_wrong, std::string what) {
    if (is_wrong) wrong.push_back(std::move(what));
  };
  refuse(config.kind != LlmKind::kDecoder || !config.language_head, "no decoder with a language head");
  refuse(config.norm != NormKind::kRmsNorm || config.norm_bias || config.norms_per_layer != 2 || !config.final_norm,
         "norms that aren't two RMS norms a layer and one behind the last");
  refuse(config.positions != PositionKind::kRotary, "positions that aren't rotary");
  refuse(config.rotary_dim != 0 && config.rotary_dim != config.head_dim, "heads of which a part turns");
  refuse(!config.gated_ffn || config.activation != ActivationKind::kSilu, "an FFN without SwiGLU");
  refuse(config.qkv_bias || config.attention_out_bias || config.ffn_bias || config.head_bias, "biases");
  refuse(config.qk_norm, "norms of queries and keys");
  refuse(config.parallel_attention, "attention beside the FFN");
  refuse(config.has_moe(), "experts");
  refuse(config.has_mla(), "latent attention");
  refuse(config.windowed_layers > 0, "windowed attention");
  refuse(config.no_attention_layers > 0 || config.no_ffn_layers > 0, "layers without attention or without an FFN");
  refuse(config.attention_sinks, "attention sinks");
  refuse(config.embedding_norm || config.token_types > 0, "an embedding with norms or types");
  const auto refuse_size = [&](std::string_view what, int64_t size) {
    if (size % kVectorStep == 0) return;
    wrong.push_back(std::string(what) + " " + std::to_string(size) + ", no multiple of 16");
  };
  refuse_size("width", config.hidden);
  refuse_size("FFN", config.ffn);
  refuse_size("heads of", config.head_dim);
  if (wrong.empty()) return {};
  return Error{"unsupported-model", printable(config.name) + " has " + join(wrong, "; "), config.source,
               "a decoder of Llama's form: RMS norms, rotary positions, SwiGLU, no biases; built in: " +
                   join(built_in_transformers(), ", ")};
}

LlmWorkload transformer_workload(Precision weights, LlmPhase phase, int64_t batch, int64_t tokens) {
  LlmWorkload workload;
  workload.phase = phase;
  workload.batch = batch;
  workload.sequence = tokens;
  workload.weights = weights;
  workload.activations = workload.kv = Precision::kFp32;
  workload.head_all_positions = false;
  workload.skip_masked = true;
  return workload;
}

}  // namespace perfcast::ai
