#pragma once
// The architecture of a transformer, as far as its operators and parameters follow from it: decoders (GPT, Llama,
// Mixtral, DeepSeek), encoders (BERT) and vision encoders (ViT). Sizes are counts of values, never bytes.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ai/llm/precision.h"
#include "base/result.h"

namespace perfcast::ai {

enum class LlmKind {
  kDecoder,  // causal attention, a key-value cache, a language head
  kEncoder,  // attention both ways, no cache: BERT
  kVision,   // an encoder over image patches with a classifier: ViT
};
enum class PositionKind { kNone, kLearned, kRotary };
enum class NormKind { kLayerNorm, kRmsNorm };
enum class ActivationKind { kRelu, kGelu, kGeluTanh, kSilu };

// Mixture of experts; experts == 0: none.
struct MoeConfig {
  int64_t experts = 0;
  int64_t active_experts = 0;  // routed experts that a token visits
  int64_t expert_ffn = 0;      // inner width of one routed expert
  int64_t shared_ffn = 0;      // inner width of all shared experts together; every token visits them
  int64_t moe_layers = 0;      // layers that have experts; the others keep the dense FFN
  bool router_bias = false;    // one value per expert (DeepSeek-V3's load correction)
  bool shared_gate = false;    // a hidden x 1 gate on the shared expert (Qwen MoE)
};

// Multi-head latent attention (DeepSeek); kv_lora_rank == 0: none.
struct MlaConfig {
  int64_t q_lora_rank = 0;  // 0: queries are projected directly
  int64_t kv_lora_rank = 0;
  int64_t qk_nope_head_dim = 0;
  int64_t qk_rope_head_dim = 0;
  int64_t v_head_dim = 0;
};

// State-space layers (Mamba) in the place of attention; layers == 0: none.
struct MambaConfig {
  int64_t layers = 0;
  int64_t inner = 0;              // width within
  int64_t state = 0;              // values that each of these keeps
  int64_t conv = 0;               // tokens that the convolution sees
  int64_t heads = 0, groups = 0;  // of Mamba-2; 0: Mamba-1, which has dt_rank
  int64_t dt_rank = 0;
  bool conv_bias = true, proj_bias = false;

  bool is_second() const { return heads > 0; }
  int64_t conv_width() const { return is_second() ? inner + 2 * groups * state : inner; }
  int64_t in_width() const { return is_second() ? inner + conv_width() + heads : 2 * inner; }  // of the first product
  int64_t step_width() const { return is_second() ? 0 : dt_rank + 2 * state; }                 // Mamba-1's second one
  // Values that one sequence keeps in one layer, however long it is.
  int64_t state_values() const { return inner * state + conv_width() * (conv > 0 ? conv - 1 : 0); }
};

struct VisionConfig {
  int64_t image_size = 0, patch_size = 0, channels = 3;
  int64_t classes = 0;
  int64_t patches() const { return patch_size > 0 ? (image_size / patch_size) * (image_size / patch_size) : 0; }
  int64_t tokens() const { return patches() + 1; }  // and the class token
};

// Bits of a value, with its share of scales.
struct StoredBits {
  double embedding = 16, attention = 16, ffn = 16, experts = 16, head = 16;  // ffn: shared experts with it
};

struct LlmConfig {
  std::string name;
  std::string source;  // where the sizes come from: "built in", or the file
  LlmKind kind = LlmKind::kDecoder;

  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;    // == heads: multi-head; 1: multi-query; between: grouped-query
  int64_t head_dim = 0;    // heads * head_dim may differ from hidden (Gemma, Qwen3)
  int64_t ffn = 0;         // inner width of the dense FFN
  bool gated_ffn = false;  // gate and up projection (SwiGLU, GeGLU) in the place of one
  ActivationKind activation = ActivationKind::kGelu;

  int64_t vocab = 0;
  bool tied_embeddings = false;  // the head is the transposed embedding
  bool language_head = true;     // false: encoders without one
  PositionKind positions = PositionKind::kRotary;
  int64_t position_rows = 0;  // rows of a learned table; OPT has two more than positions
  int64_t max_positions = 0;  // longest sequence; 0: not known
  int64_t rotary_dim = 0;     // values of a head that turn; 0: all
  int64_t token_types = 0;    // BERT's segments
  bool pooler = false;        // BERT's hidden x hidden layer on the first token

  NormKind norm = NormKind::kRmsNorm;
  bool norm_parameters = true;  // false where a published count leaves them out
  bool norm_bias = false;
  int64_t norms_per_layer = 2;  // 1: attention and FFN share theirs; 4: before and after both (Gemma 2)
  bool final_norm = true;
  bool embedding_norm = false;   // BERT
  bool qk_norm = false;          // over each head's query and key (Qwen3)
  bool wide_qk_norm = false;     // ... over all heads at once (OLMo 2)
  bool attention_sinks = false;  // a value for each head beside the scores (gpt-oss)
  bool qkv_bias = false, attention_out_bias = false, ffn_bias = false, head_bias = false;
  bool parallel_attention = false;  // attention and FFN side by side, one sum behind both (GPT-NeoX, Falcon, Phi-2)

  int64_t sliding_window = 0;   // tokens that a windowed layer attends to; 0: none is windowed
  int64_t windowed_layers = 0;  // of `layers`

  int64_t no_attention_layers = 0;  // of `layers`: Mamba's, or a feed-forward network alone
  int64_t no_ffn_layers = 0;        // of `layers`: attention or Mamba alone (Nemotron-H)

  MoeConfig moe;
  MlaConfig mla;
  MambaConfig mamba;
  VisionConfig vision;

  bool fused_qkv = true;      // one product for queries, keys and values, as serving engines run it
  bool fused_gate_up = true;  // likewise gate and up

  std::optional<Precision> stored_precision;  // that a config.json states (torch_dtype, dtype)
  // Of a file that says how its weights are stored (GGUF, a quantization_config): bytes of all tensors; what the format
  // is called (empty: it has no name), and what products take in where that is not stored_precision.
  std::optional<double> stored_weight_bytes;
  std::string stored_weight_name;
  std::optional<Precision> stored_activations;
  std::optional<StoredBits> stored_bits;  // where parts are stored in different formats
  std::vector<std::string> notes;         // what a reader of the analysis should know of this config

  bool has_moe() const { return moe.experts > 0; }
  bool has_mla() const { return mla.kv_lora_rank > 0; }
  bool has_cache() const { return kind == LlmKind::kDecoder; }
  int64_t query_width() const;  // of all heads
  int64_t attention_layers() const { return layers - no_attention_layers; }
  int64_t dense_ffn_layers() const { return layers - no_ffn_layers - (has_moe() ? moe.moe_layers : 0); }
  // Values that one token leaves in the cache of one layer: 2 * kv_heads * head_dim, or MLA's latent and rope key.
  int64_t cache_values_per_token() const;
};

// "bf16"; as a file stores them: "4.912 bits", or "fp8 (8.024 bits on average)".
std::string weights_name(const LlmConfig& config, Precision weights, std::optional<double> bits_per_value);

// Sizes in range and consistent: "bad-model-config" with the field's name. Every size is capped so that products of
// three stay inside 128 bits.
Status check_config(const LlmConfig& config);

// Parameters by part; `active` are those that one token passes through (all but the experts that it doesn't visit).
struct ParameterCount {
  int64_t total = 0, active = 0;
  int64_t embedding = 0;                     // tokens, positions, types, patches
  int64_t attention = 0, ffn = 0, norm = 0;  // attention: Mamba layers with it
  int64_t head = 0;                          // untied language head, pooler or classifier
};

// check_config() first; "size-overflow" where the sum passes 2^62.
Result<ParameterCount> count_parameters(const LlmConfig& config);

}  // namespace perfcast::ai
