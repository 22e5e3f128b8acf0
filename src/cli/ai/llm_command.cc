// perfcast llm: language models as operators, and their time on devices.

#include "cli/ai/llm_command.h"

#include "base/text.h"
#include "cli/option_table.h"

namespace perfcast::cli {
namespace {

Result<ai::Precision> parse_precision(const std::string& name, const char* option) {
  if (const auto precision = ai::precision_named(name)) return *precision;
  return usage_error("bad-usage", "there is no precision '" + printable(name) + "'", option,
                     "one of: " + join(ai::precision_names(), ", "));
}

}  // namespace

void add_llm_precision_options(CLI::App& verb, LlmPrecisionArguments& arguments, bool with_earlier) {
  add_basic(verb, "--precision", arguments.precision, "NAME",
            "The number format of weights, activations and cache: fp32, tf32, fp16, bf16, fp8, int8. Default: as the "
            "model's file says, else fp16.");
  add_advanced(verb, with_earlier ? "--weight-precision,--weights" : "--weight-precision", arguments.weights, "NAME",
               "The number format of the weights alone: also int4, q8_0, q6_k, q5_k_m, q4_k_m, q4_0 and others.");
  add_advanced(verb, with_earlier ? "--kv-precision,--kv" : "--kv-precision", arguments.kv, "NAME",
               "The number format of the key-value cache alone.");
}

void add_llm_tensor_parallel_option(CLI::App& verb, LlmPrecisionArguments& arguments) {
  add_advanced(verb, "--tensor-parallel", arguments.tensor_parallel, "N",
               "The number of devices that share every layer.")
      ->capture_default_str();
}

Status take_precision(const ai::LlmConfig& config, const LlmPrecisionArguments& arguments, ai::LlmWorkload& workload) {
  const auto all = arguments.precision.empty()
                       ? Result<ai::Precision>(config.stored_precision.value_or(ai::Precision::kFp16))
                       : parse_precision(arguments.precision, "--precision");
  if (!all) return all.error();
  workload.weights = workload.activations = workload.kv = *all;
  // A GGUF file's weights are what they are; those that a config.json speaks of may be stored otherwise, and are for
  // training.
  const bool otherwise = !arguments.precision.empty() || workload.phase == ai::LlmPhase::kTrain;
  if (!otherwise && config.stored_activations) workload.activations = *config.stored_activations;
  const bool as_stored = config.stored_weight_bytes && (!otherwise || config.stored_weight_name.empty());
  if (!arguments.weights.empty()) {
    const auto weights = parse_precision(arguments.weights, "--weight-precision");
    if (!weights) return weights.error();
    workload.weights = *weights;
  } else if (as_stored) {
    const auto count = ai::count_parameters(config);
    if (!count) return count.error();
    workload.weight_bits_per_value = *config.stored_weight_bytes * 8 / static_cast<double>(count->total);
  }
  if (!arguments.kv.empty()) {
    const auto kv = parse_precision(arguments.kv, "--kv-precision");
    if (!kv) return kv.error();
    workload.kv = *kv;
  }
  workload.tensor_parallel = arguments.tensor_parallel;
  return {};
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
