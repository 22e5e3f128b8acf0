#include <cmath>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/forecast_input.h"
#include "cli/shared/named_file.h"
#include "cli/shared/table_options.h"
#include "program/map/corpus_map.h"
#include "program/map/map_page.h"
#include "program/map/map_report.h"
#include "program/map/map_request.h"
#include "program/map/subset_evaluation.h"

namespace perfcast::cli {
namespace {

struct MapArguments {
  TableArguments table;
  std::string keep = "50%", by = "profiles", report;
  std::vector<std::string> profiles, candidates;
  bool score = false;
  int64_t draws = 10;
  const CLI::App* verb = nullptr;  // knows which options were given
  program::MapRequest request;
};

// "40" programs or "50%" of them.
Status take_keep(const std::string& text, program::MapRequest& request) {
  const bool is_share = text.ends_with('%');
  const auto value = parse_number(trim(is_share ? text.substr(0, text.size() - 1) : text));
  if (value && is_share && *value > 0 && *value <= 100) {
    request.keep_ratio = *value / 100;
    return {};
  }
  if (value && !is_share && *value >= 1 && *value < 1e9 && *value == std::floor(*value)) {
    request.keep = static_cast<int64_t>(*value);
    return {};
  }
  return usage_error("bad-usage", "'" + printable(text) + "' is no number of programs", "--keep",
                     "such as 40, or a share such as 50%");
}

// Named as the profile names its program; by its file where that is not one of a kind.
Result<std::vector<program::NamedProfile>> read_profiles(const std::string& option,
                                                         const std::vector<std::string>& paths) {
  std::vector<program::NamedProfile> named;
  std::set<std::string> names;
  for (const std::string& given : paths) {
    const std::string path = profile_path(given);
    if (Status there = check_named_file(option, path); !there) return there.error();
    auto profile = read_given_profile(given);
    if (!profile) return profile.error();
    if (!profile->ok()) {
      return Error{"program-failed", "the profile's run did not succeed", path, "a profile of a run that succeeded"};
    }
    std::string name = profile->program;
    if (name.empty() || !names.insert(name).second) name = std::filesystem::path(path).stem().string();
    named.push_back({name, std::move(*profile)});
  }
  return named;
}

int run_score(const MapArguments& arguments, const program::TrainingTable& table, const CommonOptions& common) {
  program::SubsetEvaluationOptions options;
  options.model = arguments.request.model;
  options.keep_ratio = arguments.request.keep_ratio;
  if (arguments.request.keep) {
    return report_error(usage_error("bad-usage", "what is kept differs from fold to fold", "--keep",
                                    "a share with --score, such as 50%"),
                        common);
  }
  options.folds = arguments.request.folds;
  options.draws = arguments.draws;
  options.seed = common.seed;
  options.threads = common.threads;
  ProgressLine progress(common);
  options.progress = [&progress](const std::string& text) { progress.show(text); };
  const auto evaluation = program::evaluate_subsets(table, options);
  if (!evaluation) return report_error(evaluation.error(), common);
  return write_result(common.json ? to_text(to_json(*evaluation)) : to_text(*evaluation), common);
}

Result<program::CorpusMap> map_with_progress(const program::MapRequest& request, const CommonOptions& common) {
  ProgressLine progress(common);
  program::MapRequest shown = request;
  shown.progress = [&progress](const std::string& text) { progress.show(text); };
  return program::make_corpus_map(shown);
}

int run_map(const CommandContext& context, const MapArguments& given) {
  const CommonOptions& common = context.options;
  MapArguments arguments = given;
  program::MapRequest& request = arguments.request;
  const Status used = arguments.score
                          ? check_unused(*arguments.verb, "--score",
                                         {"--report", "--profile", "--candidate", "--by", "--clusters", "--redundant"})
                          : check_unused(*arguments.verb, "a map", {"--draws"}, "--score --draws N");
  if (!used) return report_error(used.error(), common);
  if (Status taken = take_keep(arguments.keep, request); !taken) return report_error(taken.error(), common);
  if (Status there = check_output_file("--report", arguments.report); !there)
    return report_error(there.error(), common);
  std::vector<std::string> read = {common.corpus};
  for (const auto& paths : {arguments.profiles, arguments.candidates}) {
    for (const std::string& path : paths) read.push_back(profile_path(path));
  }
  for (const auto& [option, path] : {std::pair{"--report", arguments.report}, {"-o", common.output}}) {
    if (Status kept = check_not_read(option, path, read); !kept) return report_error(kept.error(), common);
  }
  if (!arguments.report.empty() && same_file(arguments.report, common.output)) {
    return report_error(
        usage_error("bad-usage", "the map and the report would go to the same place", "--report", "another file"),
        common);
  }
  auto profiles = read_profiles("--profile", arguments.profiles);
  if (!profiles) return report_error(profiles.error(), common);
  auto candidates = read_profiles("--candidate", arguments.candidates);
  if (!candidates) return report_error(candidates.error(), common);

  const auto corpus = open_corpus(common);
  if (!corpus) return report_error(corpus.error(), common);
  const std::vector<std::string> groups = list_of(arguments.table.groups);
  if (corpus->runs.empty() && !arguments.score) {
    const Status unused = check_unused(
        *arguments.verb, "a corpus without run times",
        {"--platforms", "--segments", "--minimum-programs", "--minimum-servers", "--complete", "--minimum-coverage"},
        "--groups, or a corpus with times (perfcast import)");
    if (!unused) return report_error(unused.error(), common);
    request.table = program::table_without_times(*corpus, groups);
  } else {
    auto loaded = fold_corpus(*corpus, arguments.table);
    if (!loaded) return report_error(loaded.error(), common);
    request.table = std::move(loaded->table);
    request.untimed = program::untimed_programs(*corpus, groups, request.table);
  }
  if (arguments.score) return run_score(arguments, request.table, common);

  request.profiles = std::move(*profiles);
  request.candidates = std::move(*candidates);
  request.by_times = arguments.by == "times";
  request.with_tsne = common.json || !arguments.report.empty();
  request.seed = common.seed;
  request.threads = common.threads;
  const auto map = map_with_progress(request, common);
  if (!map) return report_error(map.error(), common);
  const std::string name = std::filesystem::path(common.corpus).filename().string();
  const int code = write_result(common.json ? to_text(to_json(*map, name)) : to_text(*map, name), common);
  if (code != kExitDone || arguments.report.empty()) return code;
  if (Status status = write_file_atomically(arguments.report, program::map_page(*map, name)); !status) {
    CommonOptions how = common;
    how.json = common.json && common.output != "-";  // stdout holds the map already
    return report_error(status.error(), how);
  }
  return kExitDone;
}

}  // namespace

void add_corpus_map_command(CLI::App& corpus, CommandContext& context) {
  auto arguments = std::make_shared<MapArguments>();
  CLI::App* verb =
      add_verb(corpus, {"map",
                        "Groups the corpus' programs, finds redundant ones, and places your profile.",
                        "",
                        {"perfcast corpus map --keep 20", "perfcast corpus map --profile last --report map.html"},
                        "corpus-map"});
  arguments->verb = verb;
  verb->footer(
      "perfcast compares programs by the numbers in their profiles that models use. It chooses by profiles alone what "
      "to drop first. It then measures what dropping costs: the error of forecasts for programs of families that the "
      "model has not seen.");
  add_basic(*verb, "--keep", arguments->keep, "N|SHARE",
            "How many programs the smaller suite keeps: a number, or a share.")
      ->capture_default_str();
  add_basic(*verb, "--profile", arguments->profiles, "FILE",
            "Places this profile on the map. The word last means your latest profile.");
  add_basic(*verb, "--candidate", arguments->candidates, "FILE",
            "Says which of these profiles would add most to the suite.");
  add_basic(*verb, "--by", arguments->by, "profiles|times", "Groups programs by their profiles, or by their times.")
      ->check(CLI::IsMember({"profiles", "times"}))
      ->capture_default_str();
  add_advanced(*verb, "--clusters", arguments->request.clusters, "N",
               "Makes this many clusters. 0 makes as many as separate the programs best (largest silhouette).")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  add_advanced(*verb, "--redundant", arguments->request.redundant_distance, "DISTANCE",
               "Calls two programs redundant if their distance is below this. A distance of 1 is one standard "
               "deviation in each number.")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  add_advanced(*verb, "--model", arguments->request.model, "NAME",
               "The model family that measures what dropping programs costs.")
      ->capture_default_str();
  add_advanced(*verb, "--folds", arguments->request.folds, "N",
               "Splits the program families into this many parts, and leaves out each in turn, to measure what "
               "dropping costs. 0 leaves out one family at a time.")
      ->check(CLI::Range(0, 10000))
      ->capture_default_str();
  add_basic(*verb, "--report", arguments->report, "FILE", "Writes a page (HTML) with pictures.");
  add_basic(*verb, "--score", arguments->score,
            "Compares the accuracy of forecasts from the smaller suite with that from suites drawn at random.");
  add_advanced(*verb, "--draws", arguments->draws, "N", "With --score: draws this many random suites.")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_table_options(*verb, arguments->table);
  add_common_options(*verb, context, kCorpusOption | kQuietOption | kSeedOption | kThreadsOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_map(context, *arguments); }; });
}

}  // namespace perfcast::cli
