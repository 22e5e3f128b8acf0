#pragma once
// What models of one family have in common besides their sizes.

#include "ai/llm/model_config.h"

namespace perfcast::ai {

enum class ModelFamily {
  kGpt2,     // GPT-2, GPT-3: learned positions, biases everywhere, GELU
  kOpt,      // as GPT-2 with ReLU, three products for queries, keys, values, two more position rows
  kBert,     // encoder with segments and a pooler, norms behind the sums
  kVit,      // encoder over image patches
  kLlama,    // rotary positions, RMS norm, SwiGLU, no biases: also Mistral, Mixtral, Phi-3, DeepSeek
  kQwen2,    // Llama with biases on queries, keys, values
  kQwen3,    // Llama with norms on queries and keys
  kGemma,    // Llama with GeGLU and a tied head
  kGemma2,   // Gemma with four norms a layer
  kGemma3,   // Gemma 2 with norms on queries and keys
  kPhi2,     // biases everywhere, attention and FFN side by side behind one norm
  kGptNeox,  // biases, attention and FFN side by side behind two norms
  kFalcon,   // side by side behind one norm, no biases in products
};

// Sets what the family fixes; sizes that are set already (layers, hidden, ...) stay. Positions: `max_positions` must be
// set first, as learned tables get their rows from it; of ViT the `vision` sizes.
void apply_family(ModelFamily family, LlmConfig& config);

}  // namespace perfcast::ai
