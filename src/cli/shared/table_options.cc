#include "cli/shared/table_options.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"
#include "program/corpus/server_levels.h"
#include "program/corpus/store/store.h"
#include "program/model/features/model_inputs.h"

namespace perfcast::cli {

void add_table_options(CLI::App& verb, TableArguments& arguments) {
  add_advanced(verb, "--groups", arguments.groups, "NAME,...",
               "Takes only programs of these groups: compressor, user, os and others.");
  add_advanced(verb, "--platforms", arguments.platforms, "NAME,...", "Takes only these platforms, by id or name.");
  add_advanced(
      verb, "--every-profile", arguments.every_profile,
      "Uses every profile of a program as a separate sample. Use it if the counters were taken on every platform.");
  add_advanced(
      verb, "--source", arguments.source, "KIND",
      "What models learn about the platform on which a profile was taken: one-hot (a column for each platform), facts "
      "(its clock, caches, bandwidth, ...) or none. auto means none for profiles by perfcast, and one-hot for counters "
      "of other tools. The models nncost and physics use only the instruction mix.")
      ->check(CLI::IsMember({"auto", "one-hot", "facts", "none"}))
      ->capture_default_str();
  add_advanced(verb, "--features", arguments.features, "SET",
               "The counters that models see: all, or table1 (those of Table I of Nichols et al.).")
      ->check(CLI::IsMember({"all", "table1"}))
      ->capture_default_str();
  add_advanced(verb, "--complete", arguments.complete_rows,
               "Takes only programs that were measured on all of the platforms.");
  add_advanced(verb, "--minimum-coverage", arguments.minimum_coverage, "SHARE",
               "Leaves out platforms that were measured on a smaller share of the programs than this.")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  add_advanced(verb, "--minimum-programs", arguments.minimum_programs, "N",
               "Leaves out platforms that were measured on fewer programs than this. It replaces --minimum-coverage, "
               "for a corpus of several sources.")
      ->check(CLI::Range(0, 1000000));
  add_advanced(verb, "--segments", arguments.segments, "NAME,...",
               "Takes only platforms of these segments: cloud, server, desktop.");
  add_advanced(verb, "--minimum-servers", arguments.minimum_servers, "N",
               "Leaves out platforms that were measured on fewer servers than this. A published mean counts as one "
               "server for each of its results.")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

std::vector<std::string> list_of(const std::vector<std::string>& given, const std::vector<std::string>& known) {
  std::vector<std::string> parts;
  for (const std::string& item : given) {
    if (std::find(known.begin(), known.end(), item) != known.end()) {
      parts.push_back(item);
      continue;
    }
    for (const std::string& part : split(item, ',')) {
      if (!trim(part).empty()) parts.emplace_back(trim(part));
    }
  }
  return parts;
}

namespace {

program::InputChoice inputs_of(const TableArguments& arguments) {
  using Source = program::InputChoice::Source;
  program::InputChoice inputs;
  if (arguments.features == "table1") inputs.counters = program::InputChoice::Counters::kTable1;
  if (arguments.source == "one-hot") inputs.source = Source::kOneHot;
  if (arguments.source == "facts") inputs.source = Source::kFacts;
  if (arguments.source == "none") inputs.source = Source::kNone;
  return inputs;
}

}  // namespace

Result<program::Corpus> open_corpus(const CommonOptions& options) {
  auto store = program::CorpusStore::open_read_only(options.corpus);
  if (store) return (*store)->load();
  Error error = as_named_file(store.error(), options.corpus_given);
  if (error.code == "file-not-found") {
    error.expected =
        "a corpus: make one with `perfcast import sparecores PATH` and `perfcast collect --suite cloud`, or name one "
        "with --corpus FILE";
  }
  return error;
}

Result<LoadedTable> fold_corpus(const program::Corpus& corpus, const TableArguments& arguments) {
  program::TableOptions wanted;
  std::vector<std::string> platform_names, group_names;
  for (const Platform& platform : corpus.platforms) platform_names.push_back(platform.name);
  wanted.groups = list_of(arguments.groups);
  wanted.platforms = list_of(arguments.platforms, platform_names);
  wanted.every_profile = arguments.every_profile;
  wanted.complete_rows = arguments.complete_rows;
  wanted.minimum_coverage = arguments.minimum_coverage;
  wanted.minimum_programs = arguments.minimum_programs;
  wanted.include_unprofiled = arguments.include_unprofiled;
  wanted.segments = list_of(arguments.segments);
  for (const std::string& segment : wanted.segments) {
    if (segment != "cloud" && segment != "server" && segment != "desktop") {
      return usage_error("bad-usage", "there is no segment '" + printable(segment) + "'", "--segments",
                         "cloud, server, desktop, or several with commas between");
    }
  }
  wanted.inputs = inputs_of(arguments);
  auto table = program::make_training_table(corpus, wanted);
  if (!table) return table.error();

  LoadedTable loaded;
  if (!corpus.machine_runs.empty()) {
    auto scaling = program::make_scaling_table(corpus);  // none where there is nothing to learn from
    if (scaling) loaded.scaling = std::make_shared<const program::ScalingTable>(std::move(*scaling));
  }
  if (arguments.minimum_servers > 1) {
    std::vector<size_t> kept;
    for (size_t j = 0; j < table->platforms.size(); ++j) {
      int64_t servers = 0;
      for (size_t i = 0; i < table->programs.size(); ++i) {
        if (const auto& time = table->at(i, j)) servers = std::max({servers, time->servers, time->results});
      }
      if (servers >= arguments.minimum_servers) kept.push_back(j);
    }
    if (kept.empty()) {
      return Error{"empty-corpus",
                   "no platform was measured on " + std::to_string(arguments.minimum_servers) + " servers or more",
                   "--minimum-servers", "a smaller number"};
    }
    loaded.table = table->with_platforms(kept);
  } else {
    loaded.table = std::move(*table);
  }
  if (!arguments.include_unprofiled) {  // else nothing reads the profiles
    auto notes = program::describe_inputs(loaded.table);
    if (!notes) return notes.error();
    loaded.notes = std::move(*notes);
  }
  std::set<std::string> platforms;
  for (const Platform& platform : loaded.table.platforms) platforms.insert(platform.id);
  for (const program::Server& server : corpus.servers) {
    if (platforms.count(server.platform) > 0) loaded.servers.push_back(server);
  }
  loaded.all_cores = program::all_cores_runs(corpus);
  program::state_all_cores(loaded.all_cores, loaded.servers);
  program::state_server_levels(corpus.runs, program::application_ids(corpus.programs), loaded.servers);
  loaded.sources = corpus.sources;
  return loaded;
}

Result<LoadedTable> load_table(const CommonOptions& options, const TableArguments& arguments) {
  const auto corpus = open_corpus(options);
  if (!corpus) return corpus.error();
  return fold_corpus(*corpus, arguments);
}

}  // namespace perfcast::cli
