#pragma once
// Tokens per second of a language model on CPUs that the shipped bundle knows, one sequence at a time.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "workload/llm/model_config.h"
#include "workload/llm/operator_graph.h"

namespace perfcast {

struct CpuForecastRequest {
  std::vector<std::string> cpus;   // names of CPU models
  double vcpus;                    // of the machine; NaN: the largest that was measured
  std::vector<int64_t> sequences;  // tokens of the prompt
  int64_t output_tokens = 128;
};
enum class CpuForecastFormat { kText, kJson, kCsv };

// `weights` in the place of the usual q4_k_m. "unknown-cpu" and errors of the bundle.
Result<std::string> cpu_forecast(const LlmConfig& config, std::optional<Precision> weights,
                                 const CpuForecastRequest& request, CpuForecastFormat format);

}  // namespace perfcast
