// Any bytes: no crash, no allocation beyond what the bytes account for; what is accepted counts its parameters and
// builds a step.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ai/llm/gguf_reader.h"
#include "ai/llm/operator_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto header = parse_gguf_header({reinterpret_cast<const char*>(data), size}, "input");
  if (!header) return 0;
  if (header->tensors.size() * 24 > size) std::abort();
  const auto config = gguf_config(*header, "input");
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
