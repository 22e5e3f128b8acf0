#pragma once
// The quantization_config of a config.json: how the weights beside it are stored.

#include "ai/llm/model_config.h"
#include "base/json_fwd.h"

namespace perfcast::ai {

// Untrusted. Sets what `config` says of its stored weights, or adds a note that says what is not known. The sizes of
// `config` must have passed check_config(), and stored_precision must be set where it is known.
void read_quantization(const Json& quantization, LlmConfig& config);

}  // namespace perfcast::ai
