#pragma once
// A language model as what its tokens ask of a CPU.

#include <optional>

#include "ai/cpu_tokens/llm_work.h"
#include "ai/llm/model_config.h"
#include "ai/llm/precision.h"
#include "base/result.h"

namespace perfcast::ai {

// A decoder whose weights are stored in `weights` (`bits_per_value` in its place where a file says). Keys and values in
// fp16. Of experts those that one token takes are read. "no-decoder" for encoders; errors of count_parameters().
Result<LlmWork> cpu_work_of(const LlmConfig& config, Precision weights,
                            std::optional<double> bits_per_value = std::nullopt);

}  // namespace perfcast::ai
