// Mamba alone, and hybrids of attention and Mamba.
#include <algorithm>
#include <set>

#include "ai/llm/hf_model_types.h"
#include "ai/llm/model_family.h"
#include "base/json.h"

namespace perfcast::ai {
namespace {

void leave_attention(LlmConfig& config, int64_t attention_layers) {
  config.no_attention_layers = config.layers - std::clamp<int64_t>(attention_layers, 0, config.layers);
  config.mamba.layers = config.no_attention_layers;
}

// Of IBM's models.
void read_mamba2(Fields& in, LlmConfig& config) {
  MambaConfig& mamba = config.mamba;
  mamba.inner = in.size_or("mamba_expand", 2) * config.hidden;
  mamba.heads = in.size("mamba_n_heads");
  mamba.groups = in.size("mamba_n_groups");
  mamba.state = in.size("mamba_d_state");
  mamba.conv = in.size("mamba_d_conv");
  mamba.conv_bias = in.flag("mamba_conv_bias", true);
  mamba.proj_bias = in.flag("mamba_proj_bias", false);
}

// Of every `period` layers the one at `offset`.
int64_t periodic(Fields& in, const char* period_key, int64_t period, const char* offset_key, int64_t offset,
                 int64_t layers) {
  period = in.size_or(period_key, period);
  offset = in.size_or(offset_key, offset, 0);
  return offset < layers ? (layers - offset + period - 1) / period : 0;
}

}  // namespace

void read_pure_mamba2(Fields& in, LlmConfig& config) {
  config.layers = config.no_attention_layers = config.no_ffn_layers = in.size("num_hidden_layers");
  config.hidden = in.size("hidden_size");
  config.heads = config.kv_heads = config.head_dim = config.ffn = 1;  // none
  config.vocab = in.size("vocab_size");
  apply_family(ModelFamily::kLlama, config);
  config.positions = PositionKind::kNone;
  config.norms_per_layer = 1;
  config.tied_embeddings = in.flag("tie_word_embeddings", in.is_tied_by_class());
  config.mamba.layers = config.layers;
  config.mamba.heads = in.size("num_heads");
  config.mamba.inner = config.mamba.heads * in.size("head_dim");
  config.mamba.groups = in.size("n_groups");
  config.mamba.state = in.size("state_size");
  config.mamba.conv = in.size("conv_kernel");
  config.mamba.conv_bias = in.flag("use_conv_bias", true);
  config.mamba.proj_bias = in.flag("use_bias", false);
}

void read_bamba(Fields& in, LlmConfig& config) {
  read_llama(in, config);
  config.rotary_dim = config.head_dim / 2;
  read_mamba2(in, config);
  const Json* indices = in.array("attn_layer_indices");
  std::set<int64_t> attention;
  for (const Json& index : indices != nullptr ? *indices : Json::array()) {
    if (index.is_number_integer() && index >= 0 && index < config.layers) attention.insert(index.get<int64_t>());
  }
  if (attention.empty())
    config.notes.emplace_back("the file names no layers with attention (attn_layer_indices): none has");
  leave_attention(config, static_cast<int64_t>(attention.size()));
}

void read_granite_hybrid(Fields& in, LlmConfig& config) {
  read_llama(in, config);
  read_mamba2(in, config);
  const Json* types = in.array(in.has("layer_types") ? "layer_types" : "layers_block_type");
  if (types == nullptr) config.notes.emplace_back("the file has no layer_types: no layer has attention");
  leave_attention(config, types != nullptr ? count_types(*types, {"attention", "full_attention"}) : 0);
  const int64_t shared = in.size_or("shared_intermediate_size", 0, 0);
  if (in.size_or("num_local_experts", 0, 0) > 0) {
    read_experts(in, config);
    config.moe.shared_ffn = shared;
  } else {
    config.ffn = std::max<int64_t>(1, shared);  // stands alone
  }
}

void read_jamba(Fields& in, LlmConfig& config) {
  read_llama(in, config);
  config.positions = PositionKind::kNone;
  MambaConfig& mamba = config.mamba;
  mamba.inner = in.size_or("mamba_expand", 2) * config.hidden;
  mamba.state = in.size("mamba_d_state");
  mamba.conv = in.size("mamba_d_conv");
  const bool is_auto = in.has("mamba_dt_rank") && in.text_or("mamba_dt_rank", "") == "auto";
  mamba.dt_rank = is_auto ? (config.hidden + 15) / 16 : in.size_or("mamba_dt_rank", (config.hidden + 15) / 16);
  mamba.conv_bias = in.flag("mamba_conv_bias", true);
  mamba.proj_bias = in.flag("mamba_proj_bias", false);
  leave_attention(config, periodic(in, "attn_layer_period", 8, "attn_layer_offset", 4, config.layers));
  if (in.size("num_experts") < 2) return;
  config.moe.experts = in.size("num_experts");
  config.moe.active_experts = in.size("num_experts_per_tok");
  config.moe.expert_ffn = config.ffn;
  config.moe.moe_layers = periodic(in, "expert_layer_period", 2, "expert_layer_offset", 1, config.layers);
}

// Each layer is one of: Mamba (M), attention (*), a feed-forward network (-), experts (E).
void read_nemotron_h(Fields& in, LlmConfig& config) {
  int64_t mamba = 0, attention = 0, plain = 0, experts = 0, all = 0;
  const Json* types = in.array(in.has("layer_types") ? "layer_types" : "layers_block_type");
  if (types != nullptr) {
    all = static_cast<int64_t>(types->size());
    mamba = count_types(*types, {"mamba", "linear_attention"});
    attention = count_types(*types, {"attention", "full_attention"});
    plain = count_types(*types, {"mlp"});
    experts = count_types(*types, {"moe"});
  } else {
    const std::string pattern = in.text_or("hybrid_override_pattern", "");
    all = static_cast<int64_t>(pattern.size());
    mamba = std::count(pattern.begin(), pattern.end(), 'M');
    attention = std::count(pattern.begin(), pattern.end(), '*');
    plain = std::count(pattern.begin(), pattern.end(), '-');
    experts = std::count(pattern.begin(), pattern.end(), 'E');
  }
  if (all == 0 || mamba + attention + plain + experts != all) {
    in.complain("hybrid_override_pattern", all == 0 ? "nothing" : "other letters", "a letter of M*-E for each layer");
  }
  config.layers = std::max<int64_t>(1, all);
  config.hidden = in.size("hidden_size");
  config.heads = in.size("num_attention_heads");
  config.kv_heads = in.size_or("num_key_value_heads", config.heads);
  config.ffn = in.size("intermediate_size");
  config.vocab = in.size("vocab_size");
  config.max_positions = in.size_or("max_position_embeddings", 0, 0);
  derive_head_dim(in, config);
  apply_family(ModelFamily::kLlama, config);
  config.tied_embeddings = in.flag("tie_word_embeddings", false);
  config.positions = PositionKind::kNone;
  config.gated_ffn = false;
  config.activation = ActivationKind::kRelu;  // squared
  config.norms_per_layer = 1;
  config.no_attention_layers = all - attention;
  config.no_ffn_layers = all - plain - experts;
  config.mamba.layers = mamba;
  config.mamba.heads = in.size("mamba_num_heads");
  config.mamba.inner = config.mamba.heads * in.size("mamba_head_dim");
  config.mamba.groups = in.size("n_groups");
  config.mamba.state = in.size("ssm_state_size");
  config.mamba.conv = in.size("conv_kernel");
  config.mamba.conv_bias = in.flag("use_conv_bias", true);
  config.mamba.proj_bias = in.flag("mamba_proj_bias", false);
  config.ffn_bias = in.flag("mlp_bias", false);
  config.qkv_bias = config.attention_out_bias = in.flag("attention_bias", false);
  if (experts == 0) return;
  if (in.has("moe_latent_size"))
    in.complain("moe_latent_size", "a size", "null: experts in a latent space are not known");
  config.moe.experts = in.size("n_routed_experts");
  config.moe.active_experts = in.size("num_experts_per_tok");
  config.moe.expert_ffn = in.size("moe_intermediate_size");
  config.moe.shared_ffn =
      in.size_or("n_shared_experts", 1, 0) * in.size_or("moe_shared_expert_intermediate_size", 0, 0);
  config.moe.moe_layers = experts;
  config.moe.router_bias = true;
}

}  // namespace perfcast::ai
