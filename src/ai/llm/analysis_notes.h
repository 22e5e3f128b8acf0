#pragma once

#include <string>
#include <vector>

#include "ai/llm/operator_graph.h"

namespace perfcast::ai {

// What the figures of this model and workload take for granted.
std::vector<std::string> analysis_notes(const LlmConfig& config, const LlmWorkload& workload);
// Of these what is of the model and the format of its weights, whatever is done with it.
std::vector<std::string> model_notes(const LlmConfig& config, const LlmWorkload& workload);

}  // namespace perfcast::ai
