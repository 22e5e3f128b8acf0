#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/model_settings.h"
#include "cli/shared/table_options.h"
#include "program/evaluate/all_cores_evaluation.h"
#include "program/evaluate/evaluate.h"
#include "program/evaluate/report/evaluation_report.h"
#include "program/evaluate/report/html_report.h"
#include "program/evaluate/scaling_evaluation.h"
#include "program/model/predictor.h"

namespace perfcast::cli {
namespace {

constexpr const char* kDefaultModel = "auto";

struct EvaluateArguments {
  TableArguments table;
  std::vector<std::string> models;  // empty: kDefaultModel
  std::string split = "program-family", config;
  program::EvaluationOptions options;
  bool whole_machines = false;
  const CLI::App* verb = nullptr;  // knows which options were given
  bool details = false;
  std::string report, report_program;  // path, program id; empty: none, the one of median error
};

Status check_report_program(const program::TrainingTable& table, const std::string& program) {
  std::vector<std::string> ids;
  ids.reserve(table.programs.size());
  for (const Program& candidate : table.programs) ids.push_back(candidate.id);
  if (program.empty() || std::find(ids.begin(), ids.end(), program) != ids.end()) return {};
  return usage_error("bad-usage", "no program is called '" + printable(program) + "'", "--report-program",
                     "for example " + nearest_names(program, ids));
}

// Profiles of one program taken on several platforms, or several times.
bool has_repeated_programs(const program::TrainingTable& table) {
  std::set<std::string> ids;
  return std::any_of(table.programs.begin(), table.programs.end(),
                     [&ids](const Program& program) { return !ids.insert(program.id).second; });
}

// Of --whole-machines: families are left out, one score for each way of forecasting, and no more.
Status check_whole_machines(const CLI::App& verb) {
  return check_unused(verb, "--whole-machines",
                      {"--split", "--folds", "--holdout", "--seeds", "--reference", "--measured", "--no-intervals",
                       "--own-times", "--details", "--report", "--report-program", "--include-unprofiled"},
                      "one of both: there each program family is left out in turn");
}

// Scores of what is forecast of servers full of copies; with models, of their times of one copy too.
int run_whole_machines(const CommonOptions& common, const EvaluateArguments& arguments) {
  auto loaded = load_table(common, arguments.table);
  if (!loaded) return report_error(loaded.error(), common);
  if (!loaded->scaling) {
    return report_error({"empty-corpus", "no server of the corpus ran two programs both alone and as many copies", "",
                         "a corpus with whole machines: perfcast import sparecores"},
                        common);
  }
  ProgressLine progress(common);
  progress.show("forecasting whole servers without each program family, and without each CPU model ...");
  program::EvaluationOptions options = arguments.options;
  options.progress = [&progress](const std::string& text) { progress.show(text); };
  const auto one_copy = program::forecast_one_copy(*loaded->scaling, loaded->table, options);
  if (!one_copy) return report_error(one_copy.error(), common);
  auto evaluation = program::evaluate_scaling(program::ScalingFit(*loaded->scaling), *one_copy);
  if (!evaluation) return report_error(evaluation.error(), common);
  for (program::ScalingRow& row : program::evaluate_all_cores(loaded->all_cores))
    evaluation->rows.push_back(std::move(row));
  return write_result(common.json ? to_text(to_json(*evaluation)) : to_text(*evaluation), common);
}

int run_evaluate(const CommandContext& context, EvaluateArguments& arguments) {
  CommonOptions common = context.options;
  if (arguments.whole_machines) {
    if (Status used = check_whole_machines(*arguments.verb); !used) return report_error(used.error(), common);
  }
  const auto split = program::parse_split(arguments.split);
  if (!split) return report_error(split.error(), common);
  program::EvaluationOptions& options = arguments.options;
  options.split = *split;
  options.models = list_of(arguments.models);
  if (options.models.empty() && !arguments.whole_machines) options.models = {kDefaultModel};
  for (const std::string& model : options.models) {
    const auto known = program::make_predictor(model);
    if (!known)
      return report_error(usage_error("bad-usage", known.error().message, "--models", known.error().expected), common);
  }
  if (!arguments.report.empty() && same_file(arguments.report, common.output)) {
    return report_error(
        usage_error("bad-usage", "the scores and the report would go to the same place, " + arguments.report,
                    "--report", "another file"),
        common);
  }
  for (const std::string& model : options.models) {
    if (arguments.table.include_unprofiled && model != "mean") {
      return report_error(usage_error("bad-usage", "the model " + printable(model) + " reads profiles",
                                      "--include-unprofiled", "--models mean, which reads none"),
                          common);
    }
  }
  auto settings = read_model_settings(arguments.config, options.models, common);
  if (!settings) return report_error(settings.error(), common);
  options.settings = std::move(*settings);
  options.seed = common.seed;
  options.threads = common.threads;
  if (arguments.whole_machines) return run_whole_machines(common, arguments);
  const auto loaded = load_table(common, arguments.table);
  if (!loaded) return report_error(loaded.error(), common);

  if (Status status = check_report_program(loaded->table, arguments.report_program); !status) {
    return report_error(status.error(), common);
  }
  const auto scored = [&](program::Split by) {
    ProgressLine progress(common);
    options.split = by;
    options.progress = [&progress](const std::string& text) { progress.show(text); };
    return program::evaluate(loaded->table, options);
  };
  auto evaluation = scored(*split);
  if (!evaluation) return report_error(evaluation.error(), common);
  evaluation->notes.insert(evaluation->notes.end(), loaded->notes.begin(), loaded->notes.end());
  const std::string corpus = std::filesystem::path(common.corpus).filename().string();
  std::string text;
  const bool leaks = *split == program::Split::kRandom && has_repeated_programs(loaded->table);
  const auto by_workload =
      leaks ? scored(program::Split::kWorkload) : Result<program::Evaluation>(program::Evaluation());
  if (!by_workload) return report_error(by_workload.error(), common);
  if (common.json) {
    Json json = to_json(*evaluation, corpus, arguments.details);
    if (leaks) json["by_workload"] = to_json(*by_workload, corpus, arguments.details);
    text = to_text(json);
  } else {
    text = to_text(*evaluation, corpus, arguments.details);
    if (leaks) {
      text += "\nThe same by workload, where no program and input stands on both sides:\n\n" +
              to_text(*by_workload, corpus, arguments.details);
    }
  }
  // The scores first: they may have taken hours, and are not lost where the report can't be written.
  if (const int code = write_result(text, common); code != kExitDone || arguments.report.empty()) return code;
  const std::string report = program::html_report(*evaluation, {corpus, arguments.report_program});
  if (Status status = write_file_atomically(arguments.report, report); !status) {
    CommonOptions how = common;
    how.json = common.json && common.output != "-";  // stdout holds the scores already
    return report_error(status.error(), how);
  }
  return kExitDone;
}

}  // namespace

void add_evaluate_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<EvaluateArguments>();
  CLI::App* verb = add_verb(app, {"evaluate",
                                  "Scores models on programs or platforms that they have not seen.",
                                  "",
                                  {"perfcast evaluate --split program-family",
                                   "perfcast evaluate --models physics,forest --no-intervals --report scores.html"},
                                  "evaluate"});
  arguments->verb = verb;
  add_basic(*verb, "--models", arguments->models, "NAME,...",
            "Model families to score; forest+physics is the mean of both. The mean of the platforms is always added.")
      ->default_str(kDefaultModel);
  add_advanced(*verb, "--config", arguments->config, "FILE",
               "Reads settings (JSON) of those models that take them. perfcast train --print-config prints them.");
  add_basic(*verb, "--split", arguments->split, "KIND",
            "What is kept from the model until it is tested on it: random, workload, program, program-family, group, "
            "platform or core-design.")
      ->capture_default_str();
  add_basic(*verb, "--folds", arguments->options.folds, "N",
            "Splits the data into this many parts and leaves out each in turn. 0 leaves out one program, family, ... "
            "at a time; random and workload then make 5 parts.")
      ->check(CLI::Range(0, 10000))
      ->capture_default_str();
  add_advanced(*verb, "--holdout", arguments->options.holdout,
               "Tests the first fold alone: with --folds 5, one 80-20 split per seed.");
  add_basic(*verb, "--seeds", arguments->options.seeds, "N", "Repeats the test with this many seeds and averages.")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  add_advanced(*verb, "--reference", arguments->options.reference, "PLATFORM",
               "The platform that relative times refer to. Default: the geometric mean of the platforms.");
  add_basic(*verb, "--measured", arguments->options.measured, "N",
            "Tells the model the tested program's real times on this many platforms. The scores cover only the other "
            "platforms.")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  add_basic(*verb, "!--no-intervals", arguments->options.intervals,
            "Scores the forecasts alone, without intervals. This is many times faster.");
  add_advanced(*verb, "--inner-folds", arguments->options.inner_folds, "N",
               "Intervals and the model auto need a second split, within the training data. This is the number of its "
               "parts. 0 leaves out one program family at a time.")
      ->check(CLI::Range(0, 10000))
      ->capture_default_str();
  add_advanced(*verb, "--whole-machines", arguments->whole_machines,
               "Scores forecasts for servers that are full of copies of the program. They start from the measured time "
               "of one copy; with --models, also from each model's forecast of it. Families of programs are left out "
               "in turn; --split has no effect.");
  add_advanced(*verb, "--own-times", arguments->options.own_times,
               "Adds a row that shows how good a forecast can get: it uses the program's own times on other CPU models "
               "of the same core design.");
  add_basic(*verb, "--details", arguments->details, "Lists families and programs, the worst first.");
  add_basic(*verb, "--report", arguments->report, "FILE", "Writes a page (HTML) with scores and figures.");
  add_advanced(*verb, "--report-program", arguments->report_program, "ID",
               "The program whose forecast the report shows. Default: the program of median error.");
  add_advanced(*verb, "--include-unprofiled", arguments->table.include_unprofiled,
               "Includes programs without a profile. This needs --models mean.");
  add_table_options(*verb, arguments->table);
  add_common_options(*verb, context, kCorpusOption | kQuietOption | kSeedOption | kThreadsOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_evaluate(context, *arguments); }; });
}

}  // namespace perfcast::cli
