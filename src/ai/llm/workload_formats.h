#pragma once
// How a model is stored and computed, as people name it.

#include <cstdint>
#include <string>

#include "ai/llm/model_config.h"
#include "ai/llm/operator_graph.h"
#include "base/result.h"

namespace perfcast::ai {

// Empty: the precision that the model's file states, else fp16; weights and cache: the precision. Weights of a GGUF
// file: as it stores them.
struct WorkloadFormats {
  std::string precision, weights, kv;
  int64_t tensor_parallel = 1;
};

// Sets precisions and tensor_parallel of `workload`. "bad-usage" at "precision", "weight_precision" or "kv_precision"
// names what is known.
Status take_formats(const LlmConfig& config, const WorkloadFormats& formats, LlmWorkload& workload);

}  // namespace perfcast::ai
