#include "ai/llm/hf_config_reader.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "ai/llm/model_family.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

constexpr size_t kLargestConfigBytes = size_t{16} << 20;
constexpr int64_t kLargestSize = int64_t{1} << 31;

// One file's fields, with limits on every size so that products below can't overflow.
class Fields {
 public:
  Fields(const Json& json, const std::string& source) : json_(json), in_(json, source) {}

  int64_t size(const char* key) { return checked(key, in_.integer(key), 1); }
  int64_t size_or(const char* key, int64_t fallback, int64_t least = 1) {
    return has(key) ? checked(key, in_.integer(key), least) : fallback;
  }
  bool flag(const char* key, bool fallback) { return in_.boolean_or(key, fallback); }
  double share_or(const char* key, double fallback) {
    const double value = in_.number_or(key, fallback);
    if (value > 0 && value <= 1) return value;
    in_.complain(key, std::to_string(value), "above 0, at most 1");
    return fallback;
  }
  std::string text_or(const char* key, const std::string& fallback) { return in_.string_or(key, fallback); }
  bool has(const char* key) const {
    const auto found = json_.is_object() ? json_.find(key) : json_.end();
    return json_.is_object() && found != json_.end() && !found->is_null();
  }
  const Json* array(const char* key) { return in_.array(key); }
  const Json* object(const char* key) { return in_.object(key); }
  void complain(const char* key, const std::string& found, const std::string& expected) {
    in_.complain(key, found, expected);
  }
  Status finish() const { return in_.finish(); }

 private:
  int64_t checked(const char* key, int64_t value, int64_t least) {
    if (value >= least && value <= kLargestSize) return value;
    // A missing or misspelt field was complained about already.
    if (has(key) && json_.find(key)->is_number_integer()) {
      in_.complain(key, std::to_string(value), "from " + std::to_string(least) + " to " + std::to_string(kLargestSize));
    }
    return 1;
  }

  const Json& json_;
  JsonReader in_;
};

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

void derive_head_dim(Fields& in, LlmConfig& config) {
  if (in.has("head_dim")) {
    config.head_dim = in.size("head_dim");
    return;
  }
  if (config.hidden % config.heads != 0)
    in.complain("head_dim", "nothing", "a size where heads don't divide the width");
  config.head_dim = std::max<int64_t>(1, config.hidden / config.heads);
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

void read_windows(Fields& in, LlmConfig& config, int64_t windowed_layers) {
  const int64_t window = in.size_or("sliding_window", 0, 0);
  if (window == 0) return;
  config.sliding_window = window;
  config.windowed_layers = std::clamp<int64_t>(windowed_layers, 0, config.layers);
  const Json* types = in.array("layer_types");
  if (types == nullptr) return;
  config.windowed_layers =
      std::min<int64_t>(config.layers, std::count_if(types->begin(), types->end(), [](const Json& type) {
                          return type.is_string() && type.get_ref<const std::string&>() == "sliding_attention";
                        }));
}

void read_decoder(Fields& in, ModelFamily family, bool tied, LlmConfig& config) {
  read_common_sizes(in, config);
  config.vocab = in.size("vocab_size");
  apply_family(family, config);
  config.tied_embeddings = in.flag("tie_word_embeddings", tied);
  read_activation(in, in.has("hidden_activation") ? "hidden_activation" : "hidden_act", config);
  if (in.has("attention_bias")) config.qkv_bias = in.flag("attention_bias", false);
}

void read_llama(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kLlama, false, config);
  const bool bias = in.flag("bias", in.flag("attention_bias", false));  // InternLM: bias
  config.qkv_bias = config.attention_out_bias = bias;
  config.ffn_bias = in.flag("mlp_bias", false);
}

void read_mistral(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kLlama, false, config);
  read_windows(in, config, config.layers);
}

void read_mixtral(Fields& in, LlmConfig& config) {
  read_mistral(in, config);
  config.moe.experts = in.size("num_local_experts");
  config.moe.active_experts = in.size("num_experts_per_tok");
  config.moe.expert_ffn = config.ffn;
  config.moe.moe_layers = config.layers;
}

void read_qwen2(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kQwen2, false, config);
  config.qkv_bias = in.flag("attention_bias", true);
  if (in.flag("use_sliding_window", false)) {
    read_windows(in, config, config.layers - in.size_or("max_window_layers", 0, 0));
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
  read_decoder(in, ModelFamily::kQwen2, false, config);
  config.ffn = std::max<int64_t>(1, config.ffn / 2);
  config.activation = ActivationKind::kSilu;
}

void read_gemma(Fields& in, LlmConfig& config) { read_decoder(in, ModelFamily::kGemma, true, config); }

void read_gemma2(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kGemma2, true, config);
  read_windows(in, config, (config.layers + 1) / 2);
}

void read_gemma3(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kGemma3, true, config);
  read_windows(in, config, config.layers - config.layers / in.size_or("sliding_window_pattern", 6));
}

void read_phi(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kPhi2, false, config);
  config.qkv_bias = true;
  config.rotary_dim =
      static_cast<int64_t>(in.share_or("partial_rotary_factor", 0.5) * static_cast<double>(config.head_dim));
}

void read_phi3(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kLlama, false, config);
  config.qkv_bias = false;
  config.rotary_dim =
      static_cast<int64_t>(in.share_or("partial_rotary_factor", 1) * static_cast<double>(config.head_dim));
  read_windows(in, config, config.layers);
}

void read_gpt_neox(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kGptNeox, false, config);
  config.qkv_bias = config.attention_out_bias = in.flag("attention_bias", true);
  config.parallel_attention = in.flag("use_parallel_residual", true);
  config.rotary_dim = static_cast<int64_t>(in.share_or("rotary_pct", 0.25) * static_cast<double>(config.head_dim));
}

void read_deepseek(Fields& in, LlmConfig& config) {
  read_decoder(in, ModelFamily::kLlama, false, config);
  config.qkv_bias = false;
  config.kv_heads = config.heads;
  config.mla.q_lora_rank = in.size_or("q_lora_rank", 0, 0);
  config.mla.kv_lora_rank = in.size("kv_lora_rank");
  config.mla.qk_nope_head_dim = in.size("qk_nope_head_dim");
  config.mla.qk_rope_head_dim = in.size("qk_rope_head_dim");
  config.mla.v_head_dim = in.size("v_head_dim");
  config.head_dim = config.mla.qk_nope_head_dim + config.mla.qk_rope_head_dim;
  if (!in.has("n_routed_experts")) return;
  config.moe.experts = in.size("n_routed_experts");
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
  config.layers = in.size("num_hidden_layers");
  config.hidden = in.size("hidden_size");
  config.heads = in.size("num_attention_heads");
  derive_head_dim(in, config);
  config.ffn = in.size_or("ffn_hidden_size", 4 * config.hidden);
  config.vocab = in.size("vocab_size");
  config.max_positions = in.size_or("max_position_embeddings", 2048);
  apply_family(ModelFamily::kFalcon, config);
  const bool newer = in.flag("new_decoder_architecture", false);
  config.kv_heads = newer ? in.size_or("num_kv_heads", config.heads) : in.flag("multi_query", true) ? 1 : config.heads;
  config.parallel_attention = newer || in.flag("parallel_attn", true);
  config.norms_per_layer = newer || !config.parallel_attention ? in.size_or("num_ln_in_parallel_attn", 2) : 1;
  if (in.flag("alibi", false)) config.positions = PositionKind::kNone;
  config.qkv_bias = config.attention_out_bias = config.ffn_bias = in.flag("bias", false);
  config.tied_embeddings = in.flag("tie_word_embeddings", true);
}

// Of the weights as published; "dtype" in files since 2025.
void read_precision(Fields& in, LlmConfig& config) {
  const char* const key = in.has("torch_dtype") ? "torch_dtype" : "dtype";
  const std::string name = in.has(key) ? in.text_or(key, "") : "";
  static constexpr std::pair<std::string_view, Precision> kKnown[] = {{"float32", Precision::kFp32},
                                                                      {"float16", Precision::kFp16},
                                                                      {"bfloat16", Precision::kBf16},
                                                                      {"float8_e4m3fn", Precision::kFp8},
                                                                      {"int8", Precision::kInt8}};
  for (const auto& [known, precision] : kKnown) {
    if (name == known) config.stored_precision = precision;
  }
  if (!name.empty() && !config.stored_precision) {
    config.notes.push_back("of the file's precision, " + printable(name.substr(0, 60)) +
                           ", nothing is known: --precision says which one to take");
  }
}

struct ModelType {
  std::string_view name;
  void (*read)(Fields&, LlmConfig&);
};

constexpr ModelType kModelTypes[] = {
    {"llama", read_llama},
    {"mistral", read_mistral},
    {"mixtral", read_mixtral},
    {"qwen", read_qwen1},
    {"qwen2", read_qwen2},
    {"qwen2_moe", read_qwen2_moe},
    {"qwen3", read_qwen3},
    {"qwen3_moe", read_qwen3_moe},
    {"gemma", read_gemma},
    {"gemma2", read_gemma2},
    {"gemma3_text", read_gemma3},
    {"phi", read_phi},
    {"phi3", read_phi3},
    {"deepseek_v2", read_deepseek},
    {"deepseek_v3", read_deepseek_v3},
    {"internlm", read_llama},
    {"gpt2", read_gpt2},
    {"gpt_neox", read_gpt_neox},
    {"opt", read_opt},
    {"falcon", read_falcon},
    {"bert", read_bert},
    {"vit", read_vit},
};

}  // namespace

std::vector<std::string> hf_model_types() {
  std::vector<std::string> names;
  names.reserve(std::size(kModelTypes));
  for (const ModelType& type : kModelTypes) names.emplace_back(type.name);
  return names;
}

Result<LlmConfig> parse_hf_config(std::string_view text, const std::string& source) {
  const auto whole = parse_json(text, source);
  if (!whole) return whole.error();
  // A model of text and images keeps its language model in a part of its own.
  const Json* part = &*whole;
  std::string where = source;
  if (whole->is_object() && whole->contains("text_config") && (*whole)["text_config"].is_object()) {
    part = &(*whole)["text_config"];
    where += ".text_config";
  }
  JsonReader head(*part, where);
  const std::string name = head.string("model_type");
  if (Status status = head.finish(); !status) return status.error();
  const auto* type = std::find_if(std::begin(kModelTypes), std::end(kModelTypes),
                                  [&](const ModelType& each) { return each.name == name; });
  if (type == std::end(kModelTypes)) {
    return Error{"unknown-model-type", "model_type '" + printable(name.substr(0, 60)) + "' is not known", where,
                 "one of: " + join(hf_model_types(), ", ")};
  }
  Fields in(*part, where);
  LlmConfig config;
  config.name = printable(in.text_or("_name_or_path", "").substr(0, 100));
  if (config.name.empty()) config.name = source;
  config.source = source;
  Fields outer(*whole, source);
  read_precision(outer, config);
  if (part != &*whole && !config.stored_precision) read_precision(in, config);
  type->read(in, config);
  if (in.has("quantization_config")) {
    config.notes.emplace_back("the file's quantization_config is not read: give --weight-precision");
  }
  for (const Fields* fields : {&outer, &in}) {
    if (Status status = fields->finish(); !status) return status.error();
  }
  if (Status status = check_config(config); !status) return status.error();
  return config;
}

Result<LlmConfig> read_hf_config(const std::string& path) {
  std::error_code ignored;
  const std::string file = std::filesystem::is_directory(path, ignored) ? path + "/config.json" : path;
  const auto text = read_file(file, kLargestConfigBytes);
  if (!text) return text.error();
  return parse_hf_config(*text, file);
}

}  // namespace perfcast::ai
