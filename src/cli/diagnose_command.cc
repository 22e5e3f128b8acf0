// perfcast diagnose -- CMD: why it is slow here, and what would help.

#include <cstdio>
#include <memory>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "collect/process/duration.h"
#include "diagnose/report/diagnosis_report.h"

namespace perfcast {
namespace {

struct DiagnoseArguments {
  std::string proofs = "60s", limit;
  bool quick = false;
};

int run(const DiagnoseArguments& arguments, const CommandContext& context) {
  const CommonOptions& common = context.options;
  if (context.command.empty()) {
    return report_error(
        usage_error("bad-usage", "there is no command to diagnose", "", "perfcast diagnose -- ./prog args"), common);
  }
  DiagnosisRequest request;
  request.command = context.command;
  request.with_counts = !arguments.quick;
  request.seed = common.seed;
  if (arguments.proofs == "none") {
    request.proof_budget_s = 0;
  } else {
    const auto budget = parse_duration_s(arguments.proofs, "--proofs");
    if (!budget) return report_error(budget.error(), common);
    request.proof_budget_s = *budget;
  }
  if (!arguments.limit.empty()) {
    const auto limit = parse_duration_s(arguments.limit, "--limit");
    if (!limit) return report_error(limit.error(), common);
    request.limit_s = *limit;
  }
  request.core_designs = shipped_core_designs();
  auto progress = std::make_unique<ProgressLine>(common);
  request.progress = [&](const std::string& text) { progress->show(text); };
  request.first_findings = [&](const std::vector<Finding>& findings) {
    if (common.quiet) return;
    progress.reset();
    std::fputs(first_findings_text(findings).c_str(), stderr);
    progress = std::make_unique<ProgressLine>(common);
  };
  const auto diagnosis = diagnose(request);
  progress.reset();
  if (!diagnosis) return report_error(diagnosis.error(), common);
  return write_result(common.json ? to_text(diagnosis_json(*diagnosis)) : diagnosis_text(*diagnosis), common);
}

}  // namespace

void add_diagnose_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<DiagnoseArguments>();
  CLI::App* verb =
      app.add_subcommand("diagnose", "Why a program is slow here, and what would help, tried where it can be");
  verb->footer(
      "The command runs as you would run it: once as it is, once under an instrumenter, and some ten times for each "
      "thing "
      "that is tried. What it writes it writes each time; --proofs none tries nothing. docs/DIAGNOSE.md says how each "
      "cause is found, and how that can be wrong.");
  verb->add_option("--proofs", arguments->proofs, "How long to try what may help, or none")
      ->option_text("DURATION")
      ->capture_default_str();
  verb->add_option("--limit", arguments->limit, "Of each run, such as 30s or 5m")->option_text("DURATION");
  verb->add_flag("--quick", arguments->quick, "No instrumented run: nothing of caches and branches");
  add_common_options(*verb, context, kSeedOption);
  verb->callback([arguments, &context] { context.run = [arguments, &context] { return run(*arguments, context); }; });
}

}  // namespace perfcast
