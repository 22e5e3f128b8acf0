#pragma once
// A model taken apart for people and machines: the operators of one step, its totals, and what to know of them.

#include <string>
#include <vector>

#include "ai/llm/operator_graph.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace perfcast::ai {

struct LlmAnalysis {
  LlmConfig config;
  LlmWorkload workload;
  OperatorGraph graph;
  LlmTotals totals;
  std::vector<std::string> notes;
};

// Errors of build_operators() and total_operators().
Result<LlmAnalysis> analyze_llm(const LlmConfig& config, const LlmWorkload& workload);

// One row per operator (figures of all its launches), then the totals and notes.
std::string analysis_text(const LlmAnalysis& analysis);
// One line per operator; macs, flops and bytes are those of all its `count` launches on one device.
std::string analysis_csv(const LlmAnalysis& analysis);
// Schema perfcast.llm.analysis/1; as the CSV.
Json analysis_json(const LlmAnalysis& analysis);

// The built-in models: as a table, or as perfcast.llm.models/1.
std::string model_list_text();
Json model_list_json();

}  // namespace perfcast::ai
