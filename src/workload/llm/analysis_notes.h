#pragma once

#include <string>
#include <vector>

#include "workload/llm/operator_graph.h"

namespace perfcast {

// What the figures of this model and workload take for granted.
std::vector<std::string> analysis_notes(const LlmConfig& config, const LlmWorkload& workload);

}  // namespace perfcast
