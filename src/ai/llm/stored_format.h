#pragma once
// Weights of which some parts are quantised.

#include <optional>
#include <string>

#include "ai/llm/model_config.h"

namespace perfcast::ai {

struct QuantisedFormat {
  std::string name;                      // "fp8", "int4", "mxfp4"
  double bits = 8;                       // of a value, with its share of scales and zero points
  std::optional<Precision> activations;  // of the products; none: as the parts that stay
  // Shares of their values that are not quantised. Embeddings, norms and routers never are.
  double kept_attention = 0, kept_ffn = 0, kept_experts = 0, kept_head = 1;
};

// Sets what `config` says of its stored weights; the rest is in its stored_precision, else in 16 bits. The sizes must
// have passed check_config(). Adds a note.
void store_quantised(const QuantisedFormat& format, LlmConfig& config);

}  // namespace perfcast::ai
