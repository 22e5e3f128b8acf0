// perfcast llm: language models as operators, and their time on devices.

#include "cli/ai/llm_command.h"

#include "cli/option_table.h"

namespace perfcast::cli {

void add_llm_precision_options(CLI::App& verb, ai::WorkloadFormats& arguments, bool with_earlier) {
  add_basic(verb, "--precision", arguments.precision, "NAME",
            "The number format of weights, activations and cache: fp32, tf32, fp16, bf16, fp8, int8. Default: as the "
            "model's file says, else fp16.");
  add_advanced(verb, with_earlier ? "--weight-precision,--weights" : "--weight-precision", arguments.weights, "NAME",
               "The number format of the weights alone: also int4, q8_0, q6_k, q5_k_m, q4_k_m, q4_0 and others.");
  add_advanced(verb, with_earlier ? "--kv-precision,--kv" : "--kv-precision", arguments.kv, "NAME",
               "The number format of the key-value cache alone.");
}

void add_llm_tensor_parallel_option(CLI::App& verb, ai::WorkloadFormats& arguments) {
  add_advanced(verb, "--tensor-parallel", arguments.tensor_parallel, "N",
               "The number of devices that share every layer.")
      ->capture_default_str();
}

Error as_usage(Error error) {
  if (error.kind == ErrorKind::kUsage && !error.where.empty() && !error.where.starts_with("-")) {
    error.where = "--" + error.where;
  } else if (error.code == "size-overflow" && error.where == "batch") {
    error.where = "--batch";
  }
  return error;
}

void add_llm_command(CLI::App& app, CommandContext& context) {
  CLI::App* verb =
      add_verb(app, {"llm",
                     "Lists the operators of language models, and forecasts the models on GPUs, TPUs and CPUs.",
                     "",
                     {"perfcast llm forecast llama3-8b --on A100-80GB,H100 --batch 1,8,64",
                      "perfcast llm analyze llama3-8b --phase decode"},
                     "llm"});
  verb->require_subcommand(1);
  add_llm_analyze_command(*verb, context);
  add_llm_forecast_command(*verb, context);
  add_llm_serving_command(*verb, context);
}

}  // namespace perfcast::cli
