#pragma once
// The table behind model_catalogue.h.

#include <cstdint>
#include <span>

#include "ai/llm/model_config.h"
#include "ai/llm/model_family.h"

namespace perfcast::ai {

struct ModelRow {
  const char* name;
  ModelFamily family;
  bool tied;  // the head to the embedding
  int64_t layers, hidden, heads, kv_heads, head_dim, ffn, vocab, max_positions;
  void (*particulars)(LlmConfig&);  // what the family doesn't say; null: nothing
};

std::span<const ModelRow> model_table();

}  // namespace perfcast::ai
