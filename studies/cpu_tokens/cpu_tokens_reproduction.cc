// Scores of the forecasts of tokens/s on CPUs, beside their baselines and the noise floor:
// `perfcast_cpu_tokens_reproduction FOLDER [--threads N] [--cpu-folds N] [--write-bundle FILE] [--json]`. FOLDER holds
// the Spare Cores tables, servers.csv and benchmarks_wide.csv[.gz].
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "base/file.h"
#include "studies/cpu_tokens/token_evaluation.h"
#include "studies/output.h"

namespace perfcast::ai::cpu_tokens_study {
namespace {

struct Arguments {
  std::string folder, bundle;
  bool quiet = false, json = false;
  TokenEvaluationOptions options;
};

Status reproduce(const Arguments& arguments) {
  const auto rates = read_token_rates(arguments.folder);
  if (!rates) return rates.error();
  const auto evaluation = evaluate_token_rates(*rates, arguments.options);
  if (!evaluation) return evaluation.error();
  StudyOutput output("cpu-tokens", arguments.json);
  output.note(fmt::format("{} servers without GPUs, {} CPU models, {} core designs", evaluation->servers,
                          evaluation->cpu_models, evaluation->core_designs));
  for (const std::string& note : evaluation->notes) output.note(note);
  for (const TokenPhase phase : kTokenPhases) {
    output.add(std::string(to_string(phase)), scores_table(*evaluation, phase));
  }
  output.finish();
  if (arguments.bundle.empty()) return {};
  const auto bundle = make_token_bundle(*rates, *evaluation, arguments.options);
  if (!bundle) return bundle.error();
  return write_file_atomically(arguments.bundle, token_bundle_text(*bundle));
}

}  // namespace
}  // namespace perfcast::ai::cpu_tokens_study

int main(int argc, char** argv) try {
  perfcast::ai::cpu_tokens_study::Arguments arguments;
  CLI::App app("Leaves CPU models out and forecasts the tokens/s of language models on them");
  app.add_option("folder", arguments.folder, "holds servers.csv and benchmarks_wide.csv[.gz]")->required();
  app.add_option("--threads", arguments.options.threads, "at the same time")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_option("--cpu-folds", arguments.options.cpu_folds, "folds of CPU models; 0: each alone")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000));
  app.add_option("--depths", arguments.options.depths, "of the trees, to choose from; 0: physics alone")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(0, 12));
  app.add_option("--rounds", arguments.options.rounds, "trees")->capture_default_str()->check(CLI::Range(1, 10000));
  app.add_option("--seed", arguments.options.seed, "of folds and trees")->capture_default_str();
  app.add_option("--write-bundle", arguments.bundle, "fits on all rates and writes the bundle here");
  app.add_flag("--quiet", arguments.quiet, "no progress on stderr");
  app.add_flag("--json", arguments.json, "for programs");
  CLI11_PARSE(app, argc, argv);
  if (!arguments.quiet) {
    arguments.options.progress = [](const std::string& text) { fmt::print(stderr, "{}\n", text); };
  }
  const perfcast::Status done = perfcast::ai::cpu_tokens_study::reproduce(arguments);
  if (!done) fmt::print(stderr, "{}\n", perfcast::to_text(done.error()));
  return done ? 0 : 1;
} catch (const std::exception& error) {
  std::fputs(error.what(), stderr);
  return 1;
}
