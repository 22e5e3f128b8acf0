#pragma once
// What the sub-commands of `perfcast llm` share. Each is one llm_*_command.cc.

#include "ai/llm/workload_formats.h"
#include "cli/command.h"

namespace perfcast::cli {

void add_llm_analyze_command(CLI::App& llm, CommandContext& context);
void add_llm_forecast_command(CLI::App& llm, CommandContext& context);
void add_llm_serving_command(CLI::App& llm, CommandContext& context);

// `with_earlier`: with the earlier spellings --weights and --kv.
void add_llm_precision_options(CLI::App& verb, ai::WorkloadFormats& arguments, bool with_earlier = true);
void add_llm_tensor_parallel_option(CLI::App& verb, ai::WorkloadFormats& arguments);
// An error of a workload as one of the command line: at `sequence` becomes at --sequence.
Error as_usage(Error error);

}  // namespace perfcast::cli
