#include <algorithm>
#include <csignal>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/large_pages.h"
#include "cli/manual.h"

namespace perfcast::cli {
namespace {

// A word in the place of a verb, or of what `corpus` can do, that is none. `words`: of the command line.
std::optional<Error> unknown_verb(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* level = &app;
  for (const std::string& word : words) {
    const auto known = verbs_of(*level);
    if (known.empty()) return std::nullopt;
    if (word.starts_with("-")) continue;
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const CLI::App* verb) { return verb->get_name() == word; });
    if (found == known.end()) return no_such_verb(*level, word);
    level = *found;
  }
  return std::nullopt;
}

// What comes before the first option: where help is asked for, nothing else was looked at.
std::vector<std::string> first_words(const std::vector<std::string>& words) {
  const auto option = std::find_if(words.begin(), words.end(), [](const auto& word) { return word.starts_with("-"); });
  return {words.begin(), option};
}

bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) return true;
  }
  return false;
}

int run(int argc, char** argv) {
  CommandContext context;
  // Everything after the first "--" is the program to measure: CLI11 never sees it.
  std::vector<std::string> own;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--") {
      context.command.assign(argv + i + 1, argv + argc);
      break;
    }
    own.emplace_back(argv[i]);
  }

  CLI::App app("Profile a program once; know how it runs everywhere.", "perfcast");
  app.set_version_flag("-V,--version", "perfcast " PERFCAST_VERSION);
  app.require_subcommand(1);
  app.formatter(std::make_shared<WrappedHelp>());
  app.footer(
      "Exit status: 0 done, 1 failure, 2 bad usage, 3 a regression that `compare` found; `profile` passes the "
      "program's own on.\n"
      "Start with:  perfcast predict -- ./prog args");
  add_predict_command(app, context);
  add_place_command(app, context);
  add_profile_command(app, context);
  add_phases_command(app, context);
  add_diagnose_command(app, context);
  add_compare_command(app, context);
  add_watch_command(app, context);
  add_power_command(app, context);
  add_tune_command(app, context);
  add_energy_command(app, context);
  add_doctor_command(app, context);
  add_collect_command(app, context);
  add_import_command(app, context);
  add_corpus_command(app, context);
  add_cores_command(app, context);
  add_train_command(app, context);
  add_adapt_command(app, context);
  add_evaluate_command(app, context);
  add_export_command(app, context);
  add_schedule_command(app, context);
  add_capacity_command(app, context);
  add_slurm_command(app, context);
  add_gemm_command(app, context);
  add_llm_command(app, context);
  add_audit_command(app, context);
  add_bench_command(app, context);
  add_metrics_command(app, context);
  add_help_commands(app, context);

  const std::vector<std::string> words = own;
  std::reverse(own.begin(), own.end());  // CLI11 takes its vector from the back
  try {
    app.parse(own);
  } catch (const CLI::Success& success) {
    if (const auto unknown = unknown_verb(app, first_words(words))) return report_error(*unknown, context.options);
    return app.exit(success);
  } catch (const CLI::ParseError& problem) {
    context.options.json = wants_json(argc, argv);
    if (const auto unknown = unknown_verb(app, words)) return report_error(*unknown, context.options);
    std::string verb;  // with its own verb, as in "llm analyze"
    for (auto chosen = app.get_subcommands(); !chosen.empty(); chosen = chosen.front()->get_subcommands()) {
      verb.append(" ").append(chosen.front()->get_name());
    }
    std::string expected = "see: perfcast" + verb + " --help";
    const bool runs =
        verb == " predict" || verb == " profile" || verb == " tune" || verb == " diagnose" || verb == " energy";
    if (runs && context.command.empty() && words.size() > 1 && !words[1].starts_with("-")) {
      expected = "the program to run after --: perfcast" + verb + " -- CMD ARGS";
    }
    return report_error(usage_error("bad-usage", problem.what(), "", expected), context.options);
  }
  return context.run();
}

}  // namespace
}  // namespace perfcast::cli

int main(int argc, char** argv) {
  perfcast::cli::use_large_pages();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of the write that meets it
  try {
    return perfcast::cli::run(argc, argv);
  } catch (const std::exception& problem) {
    perfcast::cli::CommonOptions options;
    options.json = perfcast::cli::wants_json(argc, argv);
    return perfcast::cli::report_error({"internal-error", std::string("internal error: ") + problem.what(), "",
                                        "a report of this, with the command line: it is a mistake of perfcast"},
                                       options);
  }
}
