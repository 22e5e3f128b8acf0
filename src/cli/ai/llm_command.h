#pragma once
// What the sub-commands of `perfcast llm` share. Each is one llm_*_command.cc.

#include <cstdint>
#include <optional>
#include <string>

#include "ai/llm/operator_graph.h"
#include "cli/command.h"

namespace perfcast::cli {

void add_llm_analyze_command(CLI::App& llm, CommandContext& context);
void add_llm_forecast_command(CLI::App& llm, CommandContext& context);
void add_llm_serving_command(CLI::App& llm, CommandContext& context);

// How a model is stored and computed, as people write it.
struct LlmPrecisionArguments {
  // Empty: the precision that the model's file states, else fp16; weights and cache: the precision. Weights of a GGUF
  // file: as it stores them.
  std::string precision, weights, kv;
  int64_t tensor_parallel = 1;
};
// `with_earlier`: with the earlier spellings --weights and --kv.
void add_llm_precision_options(CLI::App& verb, LlmPrecisionArguments& arguments, bool with_earlier = true);
void add_llm_tensor_parallel_option(CLI::App& verb, LlmPrecisionArguments& arguments);
// Sets precisions and tensor_parallel of `workload`; "bad-usage" names the option and what is known.
Status take_precision(const ai::LlmConfig& config, const LlmPrecisionArguments& arguments, ai::LlmWorkload& workload);

// An error of a workload as one of the command line: at `sequence` becomes at --sequence.
Error as_usage(Error error);

}  // namespace perfcast::cli
