// The families of models that transformers knows by a model_type: which fields say what.
#include "ai/llm/hf_model_types.h"

#include <algorithm>
#include <iterator>

#include "ai/llm/model_family.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {

void derive_head_dim(Fields& in, LlmConfig& config) {
  config.head_dim = in.size_or("head_dim", 0);
  if (config.head_dim > 0) return;
  if (config.hidden % config.heads != 0)
    in.complain("head_dim", "nothing", "a size where heads don't divide the width");
  config.head_dim = std::max<int64_t>(1, config.hidden / config.heads);
}

int64_t count_types(const Json& types, std::initializer_list<std::string_view> wanted) {
  return std::count_if(types.begin(), types.end(), [&](const Json& type) {
    return type.is_string() &&
           std::find(wanted.begin(), wanted.end(), type.get_ref<const std::string&>()) != wanted.end();
  });
}

void read_experts(Fields& in, LlmConfig& config) {
  config.moe.experts = in.size("num_local_experts");
  config.moe.active_experts = in.size(in.has("experts_per_token") ? "experts_per_token" : "num_experts_per_tok");
  config.moe.expert_ffn = config.ffn;
  config.moe.moe_layers = config.layers;
}

namespace {

void read_activation(Fields& in, const char* key, LlmConfig& config) {
  if (!in.has(key)) return;
  const std::string name = in.text_or(key, "");
  static constexpr std::pair<std::string_view, ActivationKind> kKnown[] = {
      {"relu", ActivationKind::kRelu},         {"gelu", ActivationKind::kGelu},
      {"gelu_new", ActivationKind::kGeluTanh}, {"gelu_fast", ActivationKind::kGeluTanh},
      {"silu", ActivationKind::kSilu},         {"gelu_pytorch_tanh", ActivationKind::kGeluTanh},
      {"swish", ActivationKind::kSilu},        {"quick_gelu", ActivationKind::kGeluTanh},
      {"gelu_python", ActivationKind::kGelu}};
  for (const auto& [known, activation] : kKnown) {
    if (name == known) {
      config.activation = activation;
      return;
    }
  }
  in.complain(key, "'" + printable(name.substr(0, 60)) + "'", "relu, gelu, gelu_new, gelu_pytorch_tanh or silu");
}

// The names that Llama and most others use.
void read_common_sizes(Fields& in, LlmConfig& config) {
  config.layers = in.size("num_hidden_layers");
  config.hidden = in.size("hidden_size");
  config.heads = in.size("num_attention_heads");
  config.kv_heads = in.size_or("num_key_value_heads", config.heads);
  config.ffn = in.size("intermediate_size");
  config.max_positions = in.size_or("max_position_embeddings", 0, 0);
  derive_head_dim(in, config);
}

void read_windows(Fields& in, LlmConfig& config, int64_t windowed_layers, const char* key = "sliding_window") {
  const int64_t window = in.size_or(key, 0, 0);
  if (window == 0) return;
  config.sliding_window = window;
  config.windowed_layers = std::clamp<int64_t>(windowed_layers, 0, config.layers);
  const Json* types = in.array("layer_types");
  if (types == nullptr) return;
  config.windowed_layers =
      std::min<int64_t>(config.layers, count_types(*types, {"sliding_attention", "chunked_attention"}));
}

void read_decoder(Fields& in, ModelFamily family, LlmConfig& config) {
  read_common_sizes(in, config);
  config.vocab = in.size("vocab_size");
  apply_family(family, config);
  config.tied_embeddings = in.flag("tie_word_embeddings", in.is_tied_by_class());
  read_activation(in, in.has("hidden_activation") ? "hidden_activation" : "hidden_act", config);
  if (in.has("attention_bias")) config.qkv_bias = in.flag("attention_bias", false);
}

}  // namespace

void read_llama(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kLlama, config);
  const bool bias = in.flag("bias", in.flag("attention_bias", false));  // InternLM: bias
  config.qkv_bias = config.attention_out_bias = bias;
  config.ffn_bias = in.flag("mlp_bias", false);
}

namespace {

void read_mistral(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kLlama, config);
  read_windows(in, config, config.layers);
}

void read_mixtral(Fields& in, LlmConfig& config) {
  read_mistral(in, config);
  read_experts(in, config);
}

void read_qwen2(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kQwen2, config);
  config.qkv_bias = in.flag("attention_bias", true);
  if (in.flag("use_sliding_window", false)) {
    read_windows(in, config, config.layers - in.size_or("max_window_layers", 28, 0));
  }
}

void read_qwen3(Fields& in, LlmConfig& config) {
  read_qwen2(in, config);
  config.qk_norm = true;
  config.qkv_bias = config.attention_out_bias = in.flag("attention_bias", false);
}

// Of experts in every so many layers but those that are listed.
void read_qwen_experts(Fields& in, LlmConfig& config) {
  config.moe.experts = in.size("num_experts");
  config.moe.active_experts = in.size("num_experts_per_tok");
  config.moe.expert_ffn = in.size("moe_intermediate_size");
  const int64_t step = in.size_or("decoder_sparse_step", 1);
  int64_t layers = config.layers / step;
  if (const Json* dense = in.array("mlp_only_layers"); dense != nullptr) {
    const auto is_sparse = [&](const Json& layer) {
      return layer.is_number_unsigned() && layer.get<uint64_t>() < static_cast<uint64_t>(config.layers) &&
             (static_cast<int64_t>(layer.get<uint64_t>()) + 1) % step == 0;
    };
    layers -= std::count_if(dense->begin(), dense->end(), is_sparse);
  }
  config.moe.moe_layers = std::max<int64_t>(0, layers);
}

void read_qwen2_moe(Fields& in, LlmConfig& config) {
  read_qwen2(in, config);
  read_qwen_experts(in, config);
  config.moe.shared_ffn = in.size_or("shared_expert_intermediate_size", 0, 0);
  config.moe.shared_gate = config.moe.shared_ffn > 0;
}

void read_qwen3_moe(Fields& in, LlmConfig& config) {
  read_qwen3(in, config);
  read_qwen_experts(in, config);
}

// The first Qwen states the inner width of gate and up together.
void read_qwen1(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kQwen2, config);
  config.ffn = std::max<int64_t>(1, config.ffn / 2);
  config.activation = ActivationKind::kSilu;
}

void read_gemma(Fields& in, LlmConfig& config) { read_decoder(in, ModelFamily::kGemma, config); }

void read_gemma2(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kGemma2, config);
  read_windows(in, config, (config.layers + 1) / 2);
}

void read_gemma3(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kGemma3, config);
  const char* const key = in.has("_sliding_window_pattern") ? "_sliding_window_pattern" : "sliding_window_pattern";
  read_windows(in, config, config.layers - config.layers / in.size_or(key, 6));
}

void read_phi(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kPhi2, config);
  config.qkv_bias = true;
  config.rotary_dim =
      static_cast<int64_t>(in.share_or("partial_rotary_factor", 0.5) * static_cast<double>(config.head_dim));
}

void read_phi3(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kLlama, config);
  config.qkv_bias = false;
  config.rotary_dim =
      static_cast<int64_t>(in.share_or("partial_rotary_factor", 1) * static_cast<double>(config.head_dim));
  read_windows(in, config, config.layers);
}

void read_gpt_neox(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kGptNeox, config);
  config.qkv_bias = config.attention_out_bias = in.flag("attention_bias", true);
  config.parallel_attention = in.flag("use_parallel_residual", true);
  config.rotary_dim = static_cast<int64_t>(in.share_or("rotary_pct", 0.25) * static_cast<double>(config.head_dim));
}

void read_deepseek(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kLlama, config);
  config.qkv_bias = false;
  config.kv_heads = config.heads;
  config.mla.q_lora_rank = in.size_or("q_lora_rank", 0, 0);
  config.mla.kv_lora_rank = in.size("kv_lora_rank");
  config.mla.qk_nope_head_dim = in.size("qk_nope_head_dim");
  config.mla.qk_rope_head_dim = in.size("qk_rope_head_dim");
  config.mla.v_head_dim = in.size("v_head_dim");
  config.head_dim = config.mla.qk_nope_head_dim + config.mla.qk_rope_head_dim;
  config.moe.experts = in.size_or("n_routed_experts", 0, 0);
  if (config.moe.experts == 0) return;
  config.moe.active_experts = in.size("num_experts_per_tok");
  config.moe.expert_ffn = in.size("moe_intermediate_size");
  config.moe.shared_ffn = in.size_or("n_shared_experts", 0, 0) * config.moe.expert_ffn;
  const int64_t dense = std::min(config.layers, in.size_or("first_k_dense_replace", 0, 0));
  const int64_t step = in.size_or("moe_layer_freq", 1);
  config.moe.moe_layers = (config.layers + step - 1) / step - (dense + step - 1) / step;
}

void read_deepseek_v3(Fields& in, LlmConfig& config) {
  read_deepseek(in, config);
  config.moe.router_bias = config.has_moe();
  if (in.size_or("num_nextn_predict_layers", 0, 0) > 0) {
    config.notes.emplace_back("the module that predicts a second token is left out");
  }
}

void read_gpt2(Fields& in, LlmConfig& config) {
  config.layers = in.size("n_layer");
  config.hidden = in.size("n_embd");
  config.heads = config.kv_heads = in.size("n_head");
  config.ffn = in.size_or("n_inner", 4 * config.hidden);
  config.vocab = in.size("vocab_size");
  config.max_positions = in.size(in.has("n_positions") ? "n_positions" : "n_ctx");
  derive_head_dim(in, config);
  apply_family(ModelFamily::kGpt2, config);
  config.tied_embeddings = in.flag("tie_word_embeddings", true);
  read_activation(in, "activation_function", config);
}

void read_opt(Fields& in, LlmConfig& config) {
  config.layers = in.size("num_hidden_layers");
  config.hidden = in.size("hidden_size");
  config.heads = config.kv_heads = in.size("num_attention_heads");
  config.ffn = in.size("ffn_dim");
  config.vocab = in.size("vocab_size");
  config.max_positions = in.size("max_position_embeddings");
  derive_head_dim(in, config);
  apply_family(ModelFamily::kOpt, config);
  config.tied_embeddings = in.flag("tie_word_embeddings", true);
  config.qkv_bias = config.attention_out_bias = config.ffn_bias = in.flag("enable_bias", true);
  read_activation(in, "activation_function", config);
  if (in.size_or("word_embed_proj_dim", config.hidden) != config.hidden) {
    in.complain("word_embed_proj_dim", "another width than hidden_size", "hidden_size (OPT-350m is not supported)");
  }
}

void read_bert(Fields& in, LlmConfig& config) {
  read_common_sizes(in, config);
  config.vocab = in.size("vocab_size");
  config.max_positions = in.size("max_position_embeddings");
  config.token_types = in.size_or("type_vocab_size", 2, 0);
  apply_family(ModelFamily::kBert, config);
  read_activation(in, "hidden_act", config);
}

void read_vit(Fields& in, LlmConfig& config) {
  read_common_sizes(in, config);
  config.vision.image_size = in.size("image_size");
  config.vision.patch_size = in.size("patch_size");
  config.vision.channels = in.size_or("num_channels", 3);
  if (const Json* labels = in.object("id2label"); labels != nullptr) {
    config.vision.classes = static_cast<int64_t>(labels->size());
  } else {
    config.vision.classes = in.size_or("num_labels", 0, 0);
  }
  if (config.vision.classes == 0) config.notes.emplace_back("the file names no classes: without a classifier");
  apply_family(ModelFamily::kVit, config);
  read_activation(in, "hidden_act", config);
}

void read_falcon(Fields& in, LlmConfig& config) {
  config.layers = in.size(in.has("n_layer") ? "n_layer" : "num_hidden_layers");
  config.hidden = in.size("hidden_size");
  config.heads = in.size(in.has("n_head") ? "n_head" : "num_attention_heads");
  derive_head_dim(in, config);
  config.ffn = in.size_or("ffn_hidden_size", 4 * config.hidden);
  config.vocab = in.size("vocab_size");
  config.max_positions = in.size_or("max_position_embeddings", 2048);
  apply_family(ModelFamily::kFalcon, config);
  const bool newer = in.flag("new_decoder_architecture", false);
  config.kv_heads = newer ? in.size_or(in.has("n_head_kv") ? "n_head_kv" : "num_kv_heads", config.heads)
                    : in.flag("multi_query", true) ? 1
                                                   : config.heads;
  config.parallel_attention = newer || in.flag("parallel_attn", true);
  config.norms_per_layer = newer || !config.parallel_attention ? in.size_or("num_ln_in_parallel_attn", 2) : 1;
  if (in.flag("alibi", false)) config.positions = PositionKind::kNone;
  config.qkv_bias = config.attention_out_bias = config.ffn_bias = in.flag("bias", false);
  config.tied_embeddings = in.flag("tie_word_embeddings", true);
}

void read_gpt_oss(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kLlama, config);
  config.qkv_bias = config.attention_out_bias = in.flag("attention_bias", true);
  config.ffn_bias = config.attention_sinks = true;
  read_windows(in, config, (config.layers + 1) / 2);
  read_experts(in, config);
  config.moe.router_bias = true;
}

// Of every so many layers one attends to all tokens and has no positions; the others attend to a chunk.
void read_llama4(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kLlama, config);
  const int64_t step = in.size_or("interleave_moe_layer_step", 1);
  read_experts(in, config);
  config.moe.shared_ffn = config.moe.expert_ffn;
  config.moe.moe_layers = config.layers / step;
  if (const Json* layers = in.array("moe_layers"); layers != nullptr) {
    config.moe.moe_layers = std::min<int64_t>(config.layers, static_cast<int64_t>(layers->size()));
  }
  config.ffn = in.size("intermediate_size_mlp");
  int64_t chunked = config.layers - config.layers / in.size_or("no_rope_layer_interval", 4);
  if (const Json* rope = in.array("no_rope_layers"); rope != nullptr && !rope->empty()) {
    chunked = std::count_if(rope->begin(), rope->end(), [](const Json& has_rope) { return has_rope == 1; });
  }
  read_windows(in, config, chunked, "attention_chunk_size");
}

// OLMo's norms have no parameters.
void read_olmo(Fields& in, LlmConfig& config) {
  read_llama(in, config);
  config.norm = NormKind::kLayerNorm;
  config.norm_parameters = false;
}

void read_olmo2(Fields& in, LlmConfig& config) {
  read_llama(in, config);
  config.qk_norm = config.wide_qk_norm = true;
}

void read_olmo3(Fields& in, LlmConfig& config) {
  read_olmo2(in, config);
  read_windows(in, config, config.layers - config.layers / 4);
}

void read_granite_moe(Fields& in, LlmConfig& config) {
  read_llama(in, config);
  read_experts(in, config);
  config.moe.shared_ffn = in.size_or("shared_intermediate_size", 0, 0);
}

constexpr HfModelType kModelTypes[] = {
    {"llama", read_llama},
    {"llama4_text", read_llama4},
    {"mistral", read_mistral},
    {"ministral", read_mistral},
    {"ministral3", read_mistral},
    {"mixtral", read_mixtral},
    {"qwen", read_qwen1},
    {"qwen2", read_qwen2},
    {"qwen2_vl_text", read_qwen2},
    {"qwen2_5_vl_text", read_qwen2},
    {"qwen2_moe", read_qwen2_moe},
    {"qwen3", read_qwen3},
    {"qwen3_vl_text", read_qwen3},
    {"qwen3_moe", read_qwen3_moe},
    {"qwen3_vl_moe_text", read_qwen3_moe},
    {"gemma", read_gemma},
    {"gemma2", read_gemma2},
    {"gemma3_text", read_gemma3},
    {"phi", read_phi},
    {"phi3", read_phi3},
    {"deepseek_v2", read_deepseek},
    {"deepseek_v3", read_deepseek_v3},
    {"kimi_k2", read_deepseek_v3},
    {"gpt_oss", read_gpt_oss},
    {"olmo", read_olmo},
    {"olmo2", read_olmo2},
    {"olmo3", read_olmo3},
    {"smollm3", read_llama},
    {"granite", read_llama},
    {"granitemoe", read_granite_moe},
    {"granitemoehybrid", read_granite_hybrid},
    {"bamba", read_bamba},
    {"jamba", read_jamba},
    {"nemotron_h", read_nemotron_h},
    {"mamba2", read_pure_mamba2},
    {"internlm", read_llama},
    {"gpt2", read_gpt2},
    {"gpt_neox", read_gpt_neox},
    {"opt", read_opt},
    {"falcon", read_falcon},
    {"bert", read_bert},
    {"vit", read_vit},
};

// Models of text and images: what their text part is where nothing else is said.
constexpr std::pair<std::string_view, std::string_view> kTextParts[] = {
    {"gemma3", "gemma3_text"},     {"mistral3", "mistral"},
    {"llama4", "llama4_text"},     {"llava", "llama"},
    {"llava_next", "llama"},       {"llava_onevision", "qwen2"},
    {"paligemma", "gemma"},        {"idefics3", "llama"},
    {"smolvlm", "llama"},          {"internvl", "qwen2"},
    {"voxtral", "llama"},          {"qwen2_vl", "qwen2_vl_text"},
    {"qwen3_vl", "qwen3_vl_text"}, {"qwen2_5_vl", "qwen2_5_vl_text"}};

}  // namespace

std::span<const HfModelType> hf_model_type_table() { return kModelTypes; }

std::string_view text_part_of(std::string_view model_type) {
  for (const auto& [whole, part] : kTextParts) {
    if (whole == model_type) return part;
  }
  return {};
}

}  // namespace perfcast::ai
