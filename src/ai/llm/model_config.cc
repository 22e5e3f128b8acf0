#include "ai/llm/model_config.h"

#include <fmt/format.h>

#include <initializer_list>

namespace perfcast::ai {
namespace {

__extension__ using Wide = __int128;

// Larger than any model that anyone has trained, small enough that no sum below passes 2^120.
constexpr int64_t kMostLayers = 100'000;
constexpr int64_t kWidest = int64_t{1} << 26;
constexpr int64_t kMostExperts = 1'000'000;
constexpr int64_t kMostTableRows = int64_t{1} << 31;
constexpr int64_t kMostParameters = int64_t{1} << 62;

struct SizeField {
  const char* name;
  int64_t value;
  int64_t least, most;
};

Error wrong_size(const std::string& config, const char* field, int64_t value, const std::string& expected) {
  return {"bad-model-config", std::string(field) + " is " + std::to_string(value), config, expected};
}

Status check_sizes(const LlmConfig& config, std::initializer_list<SizeField> fields) {
  for (const SizeField& field : fields) {
    if (field.value < field.least || field.value > field.most) {
      return wrong_size(config.name, field.name, field.value,
                        "from " + std::to_string(field.least) + " to " + std::to_string(field.most));
    }
  }
  return {};
}

Status check_common(const LlmConfig& config) {
  const bool vision = config.kind == LlmKind::kVision;
  const bool dense = config.dense_ffn_layers() > 0;
  return check_sizes(config, {{"layers", config.layers, 1, kMostLayers},
                              {"hidden", config.hidden, 1, kWidest},
                              {"heads", config.heads, 1, kWidest},
                              {"kv_heads", config.kv_heads, 1, config.heads},
                              {"head_dim", config.head_dim, config.has_mla() ? 0 : 1, kWidest},
                              {"ffn", config.ffn, dense ? 1 : 0, kWidest},
                              {"vocab", config.vocab, vision ? 0 : 1, kMostTableRows},
                              {"position_rows", config.position_rows, 0, kMostTableRows},
                              {"max_positions", config.max_positions, 0, kMostTableRows},
                              {"rotary_dim", config.rotary_dim, 0, kWidest},
                              {"token_types", config.token_types, 0, kMostTableRows},
                              {"norms_per_layer", config.norms_per_layer, 0, 4},
                              {"sliding_window", config.sliding_window, 0, kMostTableRows},
                              {"no_attention_layers", config.no_attention_layers, 0, config.layers},
                              {"no_ffn_layers", config.no_ffn_layers, 0, config.layers},
                              {"windowed_layers", config.windowed_layers, 0, config.attention_layers()}});
}

Status check_parts(const LlmConfig& config) {
  if (config.has_moe() || config.moe.experts < 0) {
    const MoeConfig& moe = config.moe;
    Status status = check_sizes(config, {{"experts", moe.experts, 1, kMostExperts},
                                         {"active_experts", moe.active_experts, 1, moe.experts},
                                         {"expert_ffn", moe.expert_ffn, 1, kWidest},
                                         {"shared_ffn", moe.shared_ffn, 0, kWidest},
                                         {"moe_layers", moe.moe_layers, 0, config.layers - config.no_ffn_layers}});
    if (!status) return status;
  }
  if (config.has_mla() || config.mla.kv_lora_rank < 0) {
    const MlaConfig& mla = config.mla;
    Status status = check_sizes(config, {{"q_lora_rank", mla.q_lora_rank, 0, kWidest},
                                         {"kv_lora_rank", mla.kv_lora_rank, 1, kWidest},
                                         {"qk_nope_head_dim", mla.qk_nope_head_dim, 1, kWidest},
                                         {"qk_rope_head_dim", mla.qk_rope_head_dim, 0, kWidest},
                                         {"v_head_dim", mla.v_head_dim, 1, kWidest}});
    if (!status) return status;
  }
  if (config.mamba.layers != 0) {
    const MambaConfig& mamba = config.mamba;
    Status status = check_sizes(config, {{"mamba layers", mamba.layers, 1, config.no_attention_layers},
                                         {"mamba inner", mamba.inner, 1, kWidest},
                                         {"mamba state", mamba.state, 1, kWidest},
                                         {"mamba conv", mamba.conv, 1, kWidest},
                                         {"mamba heads", mamba.heads, 0, mamba.inner},
                                         {"mamba groups", mamba.groups, mamba.is_second() ? 1 : 0, kWidest},
                                         {"mamba dt_rank", mamba.dt_rank, mamba.is_second() ? 0 : 1, kWidest}});
    if (!status) return status;
  }
  if (config.kind == LlmKind::kVision) {
    const VisionConfig& vision = config.vision;
    return check_sizes(config, {{"image_size", vision.image_size, 1, 1 << 16},
                                {"patch_size", vision.patch_size, 1, vision.image_size},
                                {"channels", vision.channels, 1, 1 << 10},
                                {"classes", vision.classes, 0, kMostTableRows}});
  }
  return {};
}

Wide attention_parameters(const LlmConfig& config) {
  const Wide hidden = config.hidden;
  const Wide heads = config.heads;
  Wide sum = 0;
  if (config.has_mla()) {
    const MlaConfig& mla = config.mla;
    const Wide q_width = heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim);
    sum += mla.q_lora_rank > 0 ? (hidden + q_width) * mla.q_lora_rank : hidden * q_width;
    sum += hidden * (mla.kv_lora_rank + mla.qk_rope_head_dim);
    sum += Wide{mla.kv_lora_rank} * heads * (mla.qk_nope_head_dim + mla.v_head_dim);
    sum += heads * mla.v_head_dim * hidden;
  } else {
    const Wide q_width = heads * config.head_dim;
    const Wide kv_width = Wide{config.kv_heads} * config.head_dim;
    sum += hidden * (q_width + 2 * kv_width) + q_width * hidden;
    if (config.qkv_bias) sum += q_width + 2 * kv_width;
    if (config.attention_sinks) sum += heads;
  }
  if (config.attention_out_bias) sum += hidden;
  return sum;
}

// One Mamba layer; its inner norm with it.
Wide mamba_parameters(const LlmConfig& config) {
  const MambaConfig& mamba = config.mamba;
  const Wide hidden = config.hidden, inner = mamba.inner, state = mamba.state;
  Wide sum =
      hidden * mamba.in_width() + inner * hidden + Wide{mamba.conv_width()} * (mamba.conv + (mamba.conv_bias ? 1 : 0));
  if (mamba.proj_bias) sum += mamba.in_width() + hidden;
  if (mamba.is_second()) return sum + 3 * Wide{mamba.heads} + inner;
  sum += inner * mamba.step_width() + (Wide{mamba.dt_rank} + 1) * inner;
  return sum + inner * state + inner + mamba.step_width();  // the last: norms of step, input and output
}

// One feed-forward network of this inner width.
Wide ffn_parameters(const LlmConfig& config, int64_t width) {
  const Wide inputs = config.gated_ffn ? 2 : 1;
  Wide sum = (inputs + 1) * config.hidden * width;
  if (config.ffn_bias) sum += inputs * width + config.hidden;
  return sum;
}

Wide norm_parameters(const LlmConfig& config) {
  if (!config.norm_parameters) return 0;
  const Wide values = config.norm_bias ? 2 : 1;
  const Wide wide_norms =
      Wide{config.norms_per_layer} * config.layers + (config.final_norm ? 1 : 0) + (config.embedding_norm ? 1 : 0);
  Wide sum = wide_norms * values * config.hidden;
  const Wide qk_width =
      config.wide_qk_norm ? Wide{config.heads + config.kv_heads} * config.head_dim : 2 * Wide{config.head_dim};
  if (config.qk_norm) sum += Wide{config.attention_layers()} * values * qk_width;
  if (config.has_mla()) sum += Wide{config.layers} * values * (config.mla.q_lora_rank + config.mla.kv_lora_rank);
  return sum;
}

Wide embedding_parameters(const LlmConfig& config) {
  const Wide hidden = config.hidden;
  Wide rows = Wide{config.vocab} + config.position_rows + config.token_types;
  if (config.kind == LlmKind::kVision) {
    const VisionConfig& vision = config.vision;
    rows += Wide{vision.channels} * vision.patch_size * vision.patch_size + 2;  // the bias, the class token
  }
  return rows * hidden;
}

Wide head_parameters(const LlmConfig& config) {
  const Wide hidden = config.hidden;
  Wide sum = 0;
  if (config.kind == LlmKind::kVision) {
    if (config.vision.classes > 0) sum += (hidden + 1) * config.vision.classes;
  } else if (config.language_head) {
    if (!config.tied_embeddings) sum += hidden * config.vocab;
    if (config.head_bias) sum += config.vocab;
  }
  if (config.pooler) sum += (hidden + 1) * hidden;
  return sum;
}

}  // namespace

int64_t LlmConfig::query_width() const {
  return heads * (has_mla() ? mla.qk_nope_head_dim + mla.qk_rope_head_dim : head_dim);
}

int64_t LlmConfig::cache_values_per_token() const {
  return has_mla() ? mla.kv_lora_rank + mla.qk_rope_head_dim : 2 * kv_heads * head_dim;
}

std::string weights_name(const LlmConfig& config, Precision weights, std::optional<double> bits_per_value) {
  if (!bits_per_value) return std::string(info(weights).name);
  const std::string bits = fmt::format("{:.3f} bits", *bits_per_value);
  return config.stored_weight_name.empty() ? bits : fmt::format("{} ({} on average)", config.stored_weight_name, bits);
}

Status check_config(const LlmConfig& config) {
  if (Status status = check_common(config); !status) return status;
  if (Status status = check_parts(config); !status) return status;
  if (config.heads % config.kv_heads != 0) {
    return wrong_size(config.name, "kv_heads", config.kv_heads, "a divisor of heads, " + std::to_string(config.heads));
  }
  if (config.positions == PositionKind::kLearned && config.position_rows == 0) {
    return wrong_size(config.name, "position_rows", 0, "above 0 where positions are learned: how many the model has");
  }
  if (config.sliding_window == 0 && config.windowed_layers > 0) {
    return wrong_size(config.name, "sliding_window", 0, "above 0 where layers are windowed");
  }
  return {};
}

Result<ParameterCount> count_parameters(const LlmConfig& config) {
  if (Status status = check_config(config); !status) return status.error();
  const Wide embedding = embedding_parameters(config);
  const Wide mamba = Wide{config.mamba.layers} * mamba_parameters(config);
  const Wide attention = config.attention_layers() * attention_parameters(config) + mamba;
  const Wide norm = norm_parameters(config);
  const Wide head = head_parameters(config);
  Wide ffn = Wide{config.dense_ffn_layers()} * ffn_parameters(config, config.ffn);
  Wide idle = 0;  // of experts that a token doesn't visit
  if (config.has_moe()) {
    const MoeConfig& moe = config.moe;
    const Wide expert = ffn_parameters(config, moe.expert_ffn);
    Wide layer = (Wide{config.hidden} + (moe.router_bias ? 1 : 0)) * moe.experts + expert * moe.experts;
    if (moe.shared_ffn > 0) layer += ffn_parameters(config, moe.shared_ffn) + (moe.shared_gate ? config.hidden : 0);
    ffn += layer * moe.moe_layers;
    idle = expert * (moe.experts - moe.active_experts) * moe.moe_layers;
  }
  const Wide total = embedding + attention + norm + head + ffn;
  if (total > kMostParameters) {
    return Error{"size-overflow", "the model has more than 2^62 parameters", config.name, "sizes of a real model"};
  }
  ParameterCount count;
  count.total = static_cast<int64_t>(total);
  count.active = static_cast<int64_t>(total - idle);
  count.embedding = static_cast<int64_t>(embedding);
  count.attention = static_cast<int64_t>(attention);
  count.ffn = static_cast<int64_t>(ffn);
  count.norm = static_cast<int64_t>(norm);
  count.head = static_cast<int64_t>(head);
  return count;
}

}  // namespace perfcast::ai
