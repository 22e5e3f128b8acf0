// perfcast llm analyze: every operator of one step of a model.

#include <memory>
#include <string>

#include "ai/llm/analysis.h"
#include "ai/llm/model_catalogue.h"
#include "base/json.h"
#include "cli/ai/llm_command.h"
#include "cli/choices.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"

namespace perfcast::cli {
namespace {

struct AnalyzeArguments {
  std::string model;
  ai::LlmPhase phase = ai::LlmPhase::kPrefill;
  std::optional<int64_t> sequence, context;
  int64_t batch = 1;
  ai::WorkloadFormats precision;
  bool csv = false, list = false, last_position = false, eager_attention = false, skip_masked = false;
};

Result<ai::LlmWorkload> workload_of(const ai::LlmConfig& config, const AnalyzeArguments& arguments) {
  ai::LlmWorkload workload;
  workload.phase = arguments.phase;
  workload.batch = arguments.batch;
  workload.sequence = arguments.sequence.value_or(ai::usual_sequence(config));
  if (arguments.context) {
    if (arguments.phase != ai::LlmPhase::kDecode) {
      return usage_error("bad-usage", "a context is what decoding attends to", "--context",
                         "--phase decode, or --sequence");
    }
    if (*arguments.context < 1) {
      return usage_error("bad-usage", "a context of " + std::to_string(*arguments.context) + " tokens", "--context",
                         "1 or more: the new token counts");
    }
    workload.context = *arguments.context;
  }
  workload.head_all_positions = !arguments.last_position;
  workload.fused_attention = !arguments.eager_attention;
  workload.skip_masked = arguments.skip_masked;
  if (Status status = ai::take_formats(config, arguments.precision, workload); !status) return status.error();
  return workload;
}

int run_analyze(const CommandContext& context, const AnalyzeArguments& arguments) {
  const CommonOptions& common = context.options;
  if (arguments.csv && common.json) {
    return report_error(usage_error("bad-usage", "two formats at once", "--csv", "--csv or --json"), common);
  }
  if (arguments.list) return write_result(common.json ? to_text(ai::model_list_json()) : ai::model_list_text(), common);
  if (arguments.model.empty()) {
    return report_error(usage_error("bad-usage", "no model is named", "perfcast llm analyze",
                                    "a built-in name (--list), a config.json, a folder with one, or a GGUF file"),
                        common);
  }
  const auto config = ai::load_model(arguments.model);
  if (!config) return report_error(as_named_file(config.error(), true), common);
  const auto workload = workload_of(*config, arguments);
  if (!workload) return report_error(workload.error(), common);
  const auto analysis = ai::analyze_llm(*config, *workload);
  if (!analysis) return report_error(as_usage(analysis.error()), common);
  if (common.json) return write_result(to_text(ai::analysis_json(*analysis)), common);
  return write_result(arguments.csv ? ai::analysis_csv(*analysis) : ai::analysis_text(*analysis), common);
}

}  // namespace

void add_llm_analyze_command(CLI::App& llm, CommandContext& context) {
  auto arguments = std::make_shared<AnalyzeArguments>();
  CLI::App* verb = add_verb(llm, {"analyze",
                                  "Lists every operator of one step: its sizes, products, bytes and intensity.",
                                  "",
                                  {"perfcast llm analyze llama3-8b --phase decode",
                                   "perfcast llm analyze ./my-model/config.json --batch 8 --csv"},
                                  "llm-analyze"});
  verb->footer("The figures of an operator cover all its launches on one device.");
  add_basic(*verb, "model", arguments->model, "MODEL",
            "A built-in name, a config.json, a folder with one, or a GGUF file.");
  add_basic(*verb, "--list", arguments->list, "Lists the built-in models.");
  add_basic(*verb, "--phase", arguments->phase, "prefill|decode|train",
            "The step whose operators are listed. Default: prefill.")
      ->transform(choices<ai::LlmPhase>(
          {{"prefill", ai::LlmPhase::kPrefill}, {"decode", ai::LlmPhase::kDecode}, {"train", ai::LlmPhase::kTrain}}));
  add_basic(*verb, "--batch", arguments->batch, "N", "How many sequences (or images) run at once.")
      ->capture_default_str();
  add_basic(*verb, "--sequence", arguments->sequence, "N",
            "How many tokens each sequence has. Default: 2048, or as many as the model takes.");
  add_basic(*verb, "--context", arguments->context, "N",
            "With --phase decode: how many tokens a new token attends to, itself included. Default: as --sequence.");
  add_llm_precision_options(*verb, arguments->precision);
  add_llm_tensor_parallel_option(*verb, arguments->precision);
  add_advanced(*verb, "--last-position", arguments->last_position,
               "In prefill, computes the output head for the last position alone.");
  add_advanced(*verb, "--eager-attention", arguments->eager_attention,
               "Writes attention scores to memory, as an engine without a fused kernel does.");
  add_advanced(*verb, "--skip-masked", arguments->skip_masked,
               "Leaves out the attention scores that the causal mask hides.");
  add_basic(*verb, "--csv", arguments->csv, "Prints one line of CSV per operator.");
  add_common_options(*verb, context, kNoFurtherOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_analyze(context, *arguments); }; });
}

}  // namespace perfcast::cli
