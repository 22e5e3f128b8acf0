#pragma once
// Configs of well-known models, by name; from the configuration files that their makers published.

#include <string>
#include <string_view>
#include <vector>

#include "ai/llm/model_config.h"
#include "base/result.h"

namespace perfcast::ai {

// Names in the order of the table.
std::vector<std::string> built_in_models();

// Case-insensitive, with aliases ("llama-2-7b", "meta-llama/Llama-2-7b-hf"). "unknown-model" with the nearest names;
// of a name without a size all sizes.
Result<LlmConfig> built_in_model(std::string_view name);

// MODEL of the command line: a built-in name, a config.json, a folder that holds one, or a GGUF file.
Result<LlmConfig> load_model(const std::string& name_or_path);

}  // namespace perfcast::ai
