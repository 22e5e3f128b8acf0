#pragma once
// How the fields of each model_type are read.

#include <initializer_list>
#include <span>
#include <string_view>

#include "ai/llm/hf_fields.h"
#include "ai/llm/model_config.h"

namespace perfcast::ai {

struct HfModelType {
  std::string_view name;
  void (*read)(Fields&, LlmConfig&);  // mistakes are collected by the fields
};
std::span<const HfModelType> hf_model_type_table();

// The model_type of the text part of a model of text and images, unless it names its own; empty: not known.
std::string_view text_part_of(std::string_view model_type);

// What several types have in common.
void read_llama(Fields& in, LlmConfig& config);
void read_experts(Fields& in, LlmConfig& config);  // as Mixtral names them, in all layers
void derive_head_dim(Fields& in, LlmConfig& config);
// How many of a list of layers are of these types.
int64_t count_types(const Json& types, std::initializer_list<std::string_view> wanted);

// Mamba-2 alone, and hybrids.
void read_pure_mamba2(Fields& in, LlmConfig& config);
void read_bamba(Fields& in, LlmConfig& config);
void read_granite_hybrid(Fields& in, LlmConfig& config);
void read_jamba(Fields& in, LlmConfig& config);
void read_nemotron_h(Fields& in, LlmConfig& config);

}  // namespace perfcast::ai
