// perfcast diagnose -- CMD: why it is slow here, and what would help.

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/process/duration.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/output_width.h"
#include "cli/shared/around_options.h"
#include "cli/shared/forecast_input.h"
#include "cli/shared/named_file.h"
#include "measure/diagnose/bloat/bloat_figure.h"
#include "measure/diagnose/report/diagnosis_page.h"
#include "measure/diagnose/report/diagnosis_report.h"
#include "measure/diagnose/report/diagnosis_trace.h"
#include "program/evaluate/platform_name.h"
#include "program/forecast/elsewhere.h"

namespace perfcast::cli {
namespace {

struct DiagnoseArguments {
  std::string proofs = "60s", limit, on, rebuild, source, threads, report, trace;
  bool quick = false, bloat = false;
  AroundRun around;
};

constexpr size_t kShown = 5;

std::string elsewhere_text(const program::Elsewhere& elsewhere) {
  std::string text =
      fmt::format("\non {}, against {}, by the forecast of its counters: {:.2f} x the relative time ({})\n",
                  printable(elsewhere.platform), printable(elsewhere.against), std::exp(elsewhere.log_ratio),
                  elsewhere.log_ratio < 0 ? "faster" : "slower");
  size_t shown = 0;
  for (const program::SpreadEffect& effect : elsewhere.effects) {
    if (shown++ == kShown) break;
    text += fmt::format("   {} {:.1f}% {} {}\n", effect.log > 0 ? "loses" : "gains",
                        100 * std::abs(std::expm1(effect.log)), effect.log > 0 ? "to" : "from", printable(effect.text));
  }
  if (elsewhere.effects.empty()) text += "   none of its counters sets it apart there\n";
  shown = 0;
  for (const program::Counterfactual& change : elsewhere.counterfactuals) {
    if (!change.reaches || shown++ == kShown) break;
    text += "   10% less there: " + printable(program::counterfactual_in_words(change)) + "\n";
  }
  if (shown == 0) text += "   no counter alone would take 10% off there\n";
  return text;
}

// Before anything slow: each file can be written, is no other's, and is none that the command is given.
Status check_files(const DiagnoseArguments& arguments, const CommandContext& context) {
  std::vector<std::string> read = context.command;
  if (!arguments.on.empty()) read.push_back(context.options.bundle);
  const std::vector<std::pair<std::string, std::string>> written = {
      {"--report", arguments.report}, {"--trace", arguments.trace}, {"-o", context.options.output}};
  for (size_t i = 0; i < written.size(); ++i) {
    const auto& [option, path] = written[i];
    if (Status writable = check_output_file(option, path); !writable) return writable;
    if (Status kept = check_not_read(option, path, read); !kept) return kept;
    for (size_t k = i + 1; k < written.size(); ++k) {
      if (!path.empty() && !written[k].second.empty() && same_file(path, written[k].second))
        return usage_error("bad-usage", "'" + printable(path) + "' would be written by " + written[k].first + ", too",
                           option, "another file");
    }
  }
  return {};
}

int run(const DiagnoseArguments& arguments, const CommandContext& context) {
  const CommonOptions& common = context.options;
  if (context.command.empty()) {
    return report_error(
        usage_error("bad-usage", "there is no command to diagnose", "", "perfcast diagnose -- ./prog args"), common);
  }
  if (Status files = check_files(arguments, context); !files) return report_error(files.error(), common);
  measure::DiagnosisRequest request;
  request.command = context.command;
  request.with_counts = !arguments.quick;
  request.around = arguments.around;
  request.with_bloat = arguments.bloat;
  request.seed = common.seed;
  if (arguments.proofs == "none") {
    request.proof_budget_s = 0;
  } else {
    const auto budget = parse_duration_s(arguments.proofs, "--proofs");
    if (!budget) return report_error(budget.error(), common);
    request.proof_budget_s = *budget;
  }
  if (!arguments.limit.empty()) {
    const auto limit = parse_duration_s(arguments.limit, "--run-limit");
    if (!limit) return report_error(limit.error(), common);
    request.limit_s = *limit;
  }
  if (!arguments.threads.empty() && request.proof_budget_s <= 0) {
    return report_error(
        usage_error("bad-usage", "--threads runs the program, which --proofs none forbids", "--threads", "one of both"),
        common);
  }
  if (!arguments.source.empty() && arguments.rebuild.empty()) {
    return report_error(
        usage_error("bad-usage", "--source says where --rebuild builds", "--source", "--rebuild LINE, too"), common);
  }
  request.rebuild = arguments.rebuild;
  request.source = arguments.source;
  request.threads = arguments.threads;
  request.core_designs = shipped_core_designs();
  std::optional<program::Forecaster> forecaster;
  if (!arguments.on.empty()) {
    if (arguments.quick)
      return report_error(
          usage_error("bad-usage", "--on goes by counts, which --quick leaves out", "--on", "one of both"), common);
    auto opened = open_forecaster(common);
    if (!opened) return report_error(opened.error(), common);
    forecaster = std::move(*opened);
    // Before anything slow.
    if (const auto known = program::find_platform(forecaster->bundle().platforms, arguments.on, "--on"); !known)
      return report_error(known.error(), common);
    request.for_forecast = true;
  }
  auto progress = std::make_unique<ProgressLine>(common);
  request.progress = [&](const std::string& text) { progress->show(text); };
  request.first_findings = [&](const std::vector<measure::Finding>& findings) {
    if (common.quiet) return;
    progress.reset();
    std::fputs(fitted(measure::first_findings_text(findings), prose_columns()).c_str(), stderr);
    progress = std::make_unique<ProgressLine>(common);
  };
  const auto diagnosis = measure::diagnose(request);
  progress.reset();
  if (!diagnosis) return report_error(diagnosis.error(), common);
  Json json = common.json ? measure::diagnosis_json(*diagnosis) : Json();
  std::string text = common.json ? "" : measure::diagnosis_text(*diagnosis, prose_columns());
  if (forecaster) {
    const auto elsewhere =
        diagnosis->profile
            ? program::look_elsewhere(forecaster->bundle(), *diagnosis->profile, arguments.on)
            : Result<program::Elsewhere>(Error{"no-counts", "the program could not be counted", "--on", ""});
    if (elsewhere) {
      if (common.json) json["on"] = to_json(*elsewhere);
      text += elsewhere_text(*elsewhere);
    } else {
      // What was found here stands.
      if (common.json) json["on"] = nullptr;
      text += "\nnote: nothing of " + printable(arguments.on) + ": " + elsewhere.error().message + "\n";
    }
  }
  // What was found first: it may have taken minutes, and is not lost where a file can't be written.
  if (const int code =
          write_result(common.json ? to_text(json) : fitted(text, prose_columns()), common, NewFile::kPrivate);
      code != kExitDone)
    return code;
  CommonOptions how = common;
  how.json = common.json && common.output != "-";  // stdout holds the result already
  if (!arguments.report.empty()) {
    std::vector<Figure> figures;
    if (diagnosis->bloat) figures.push_back(measure::code_bloat_figure(*diagnosis->bloat));
    const Status written = write_file_atomically(arguments.report, measure::diagnosis_page(*diagnosis, figures));
    if (!written) return report_error(written.error(), how);
  }
  if (!arguments.trace.empty()) {
    const Status written =
        write_file_atomically(arguments.trace, measure::diagnosis_trace(diagnosis->seen, diagnosis->command));
    if (!written) return report_error(written.error(), how);
  }
  return kExitDone;
}

}  // namespace

void add_diagnose_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<DiagnoseArguments>();
  CLI::App* verb = add_verb(app, {"diagnose",
                                  "Says why a program is slow here, and tries what may help.",
                                  "-- COMMAND ARGS...",
                                  {"perfcast diagnose -- ./prog input.dat",
                                   "perfcast diagnose --threads 1,2,4 -- ./prog --threads {threads}"},
                                  "diagnose"});
  verb->footer(
      "perfcast runs the command once as it is, once under an emulator that counts instructions, and about ten times "
      "for each change that it tries. Each run writes the command's files again.");
  add_basic(*verb, "--proofs", arguments->proofs, "TIME",
            "Tries changes that may help, for this long. The word none tries nothing.")
      ->capture_default_str();
  add_basic(*verb, "--run-limit,--limit", arguments->limit, "TIME",
            "Ends any single run after this time, such as 30s or 5m.");
  add_basic(*verb, "--on", arguments->on, "PLATFORM", "Also says which causes would matter on this platform.");
  add_basic(*verb, "--rebuild", arguments->rebuild, "LINE",
            "The shell line that builds your program, with {flags} instead of the compiler's flags. perfcast then "
            "tries other flags, in a copy.");
  add_advanced(*verb, "--source", arguments->source, "FOLDER",
               "The folder in which --rebuild builds. Default: the current folder.");
  add_basic(*verb, "--threads", arguments->threads, "LIST",
            "Runs the program with each of these numbers of threads, such as 1,2,4, or auto. Write {threads} in the "
            "command where the number belongs.");
  add_advanced(
      *verb, "--bloat", arguments->bloat,
      "Also shows how much code each file loads, and how much of it runs. This needs a count of the whole run.");
  add_basic(*verb, "--quick", arguments->quick, "Skips the emulated run. You learn nothing about caches and branches.");
  add_around_options(*verb, arguments->around);
  add_basic(*verb, "--report", arguments->report, "FILE", "Writes a page (HTML) with pictures.");
  add_advanced(*verb, "--trace", arguments->trace, "FILE",
               "Writes what each thread did and when (JSON, for ui.perfetto.dev).");
  add_common_options(*verb, context, kSeedOption | kBundleOption | kQuietOption);
  verb->callback([arguments, &context] { context.run = [arguments, &context] { return run(*arguments, context); }; });
}

}  // namespace perfcast::cli
