#pragma once
// The config.json that lies beside a model's weights on Hugging Face. Untrusted input.

#include <string>
#include <string_view>
#include <vector>

#include "ai/llm/model_config.h"
#include "base/result.h"

namespace perfcast::ai {

// "unknown-model-type" names those that are known; "bad-json-field" every field that is missing or no number of the
// right size; "bad-model-config" where the sizes contradict each other. Of a model of text and images, the text part.
Result<LlmConfig> parse_hf_config(std::string_view json, const std::string& source);

// A config.json, or the folder that holds one.
Result<LlmConfig> read_hf_config(const std::string& path);

std::vector<std::string> hf_model_types();

}  // namespace perfcast::ai
