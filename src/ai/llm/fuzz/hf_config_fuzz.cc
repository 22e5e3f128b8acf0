// Any bytes: no crash; what is accepted counts its parameters and builds a step.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ai/llm/hf_config_reader.h"
#include "ai/llm/operator_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto config = parse_hf_config({reinterpret_cast<const char*>(data), size}, "input");
  if (!config) return 0;
  if (!check_config(*config)) std::abort();
  OperatorGraph graph;
  LlmWorkload workload;
  if (!build_operators(*config, workload, graph)) return 0;
  for (const LlmOperator& op : graph) {
    if (!std::isfinite(op.macs) || op.macs < 0 || !(op.bytes() >= 0)) std::abort();
  }
  const auto totals = total_operators(*config, workload, graph);
  if (totals && totals->parameters.active > totals->parameters.total) std::abort();
  return 0;
}
