#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/data/corpus_croissant.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"
#include "profile/profile.h"
#include "profile/trace/trace_report.h"
#include "program/corpus/quality/quality_report.h"
#include "program/corpus/quality/table_writer.h"
#include "program/corpus/store/store.h"

namespace perfcast::cli {
namespace {

Result<program::Corpus> load_corpus(const std::string& path, bool named) {
  auto store = program::CorpusStore::open_read_only(path);
  if (!store) return as_named_file(store.error(), named);
  return (*store)->load();
}
Result<program::Corpus> load_corpus(const CommonOptions& common) {
  return load_corpus(common.corpus, common.corpus_given);
}

int run_info(const CommandContext& context) {
  const CommonOptions& common = context.options;
  const auto corpus = load_corpus(common);
  if (!corpus) return report_error(corpus.error(), common);
  return write_result(common.json ? to_text(program::info_json(*corpus)) : program::info_text(*corpus), common);
}

int run_check(const CommandContext& context) {
  const CommonOptions& common = context.options;
  const auto corpus = load_corpus(common);
  if (!corpus) return report_error(corpus.error(), common);
  const program::QualityCard card = program::check_quality(*corpus);
  return write_result(common.json ? to_text(to_json(card)) : to_text(card), common);
}

// What a verb did, where it did not print a table: counts of what passed.
std::string outcome_text(const CommonOptions& common, const std::string& done, const std::string& where,
                         const program::Corpus& corpus) {
  const std::pair<const char*, size_t> counts[] = {
      {"sources", corpus.sources.size()},   {"platforms", corpus.platforms.size()}, {"servers", corpus.servers.size()},
      {"programs", corpus.programs.size()}, {"profiles", corpus.profiles.size()},   {"runs", corpus.runs.size()}};
  if (!common.json) {
    std::string text = done + " " + where + ":";
    for (const auto& [name, count] : counts) {
      text += (name == counts[0].first ? " " : ", ") + std::to_string(count) + " " + name;
      if (count == 1) text.pop_back();
    }
    return text + "\n";
  }
  Json json{{"schema", "perfcast.corpus." + done + "/1"}, {"path", where}};
  for (const auto& [name, count] : counts) json[std::string(name) + "_count"] = count;
  return to_text(json);
}

int run_export_croissant(const CommandContext& context, const std::string& folder,
                         const CroissantArguments& arguments) {
  const CommonOptions& common = context.options;
  const auto corpus = load_corpus(common);
  if (!corpus) return report_error(corpus.error(), common);
  const Status written = program::write_croissant(*corpus, croissant_info(arguments, *corpus, common), folder);
  if (!written) return report_error(written.error(), common);
  return write_result(outcome_text(common, "export", folder, *corpus), common);
}

int run_export(const CommandContext& context, const std::string& folder) {
  const CommonOptions& common = context.options;
  const auto corpus = load_corpus(common);
  if (!corpus) return report_error(corpus.error(), common);
  if (const Status status = program::write_tables(*corpus, folder); !status)
    return report_error(status.error(), common);
  return write_result(outcome_text(common, "export", folder, *corpus), common);
}

// One program's profile, as `predict --profile` takes it.
int run_export_program(const CommandContext& context, const std::string& program) {
  const CommonOptions& common = context.options;
  const auto corpus = load_corpus(common);
  if (!corpus) return report_error(corpus.error(), common);
  std::vector<std::string> profiled;
  const program::StoredProfile* found = nullptr;
  size_t count = 0;
  for (const program::StoredProfile& stored : corpus->profiles) {
    profiled.push_back(stored.program);
    if (stored.program != program) continue;
    if (found == nullptr) found = &stored;
    ++count;
  }
  if (found == nullptr) {
    return report_error(
        usage_error("bad-usage", "the corpus has no profile of '" + printable(program) + "'", "--program",
                    profiled.empty() ? "a corpus with profiles: perfcast import profiles"
                                     : "for example " + nearest_names(program, profiled)),
        common);
  }
  if (count > 1 && !common.quiet) {
    std::fprintf(stderr, "perfcast: the first of %zu profiles of %s, taken on %s\n", count, printable(program).c_str(),
                 printable(found->profile.host.name).c_str());
  }
  return write_result(to_text(to_json(found->profile)), common);
}

int run_merge(const CommandContext& context, const std::string& other) {
  const CommonOptions& common = context.options;
  std::error_code ignored;
  if (std::filesystem::equivalent(other, common.corpus, ignored)) {
    return report_error(
        usage_error("bad-usage", "the corpus cannot be merged into itself", other, "another corpus file"), common);
  }
  const auto additions = load_corpus(other, true);
  if (!additions) return report_error(additions.error(), common);
  auto store = program::CorpusStore::open(common.corpus);
  if (!store) return report_error(store.error(), common);
  if (const Status status = (*store)->merge(*additions); !status) return report_error(status.error(), common);
  return write_result(outcome_text(common, "merge", other, *additions), common);
}

// What a trace holds, all of it having been checked.
int run_trace(const CommandContext& context, const std::string& path) {
  const CommonOptions& common = context.options;
  if (const Status there = check_named_file("FILE", path); !there) return report_error(there.error(), common);
  const auto trace = read_trace(path);
  if (!trace) return report_error(trace.error(), common);
  return write_result(common.json ? to_text(trace_json(*trace)) : trace_text(*trace), common);
}

}  // namespace

void add_corpus_command(CLI::App& app, CommandContext& context) {
  CLI::App* verb = add_verb(app, {"corpus",
                                  "Looks into the corpus, checks it, exports it, and merges others into it.",
                                  "",
                                  {"perfcast corpus info", "perfcast corpus map --keep 20"},
                                  "corpus"});
  verb->require_subcommand(1);
  const auto add = [&](VerbText text, const std::function<int()>& run, CommonOption further = kCorpusOption) {
    CLI::App* action = add_verb(*verb, std::move(text));
    add_common_options(*action, context, further);
    action->callback([&context, run] { context.run = run; });
    return action;
  };
  add({"info",
       "Says what the corpus holds: sources with their licences, platforms, programs.",
       "",
       {"perfcast corpus info", "perfcast corpus info --corpus mine.db --json"},
       "corpus"},
      [&context] { return run_info(context); });
  auto checked = std::make_shared<std::string>();
  CLI::App* check = add({"check",
                         "Checks the corpus' quality: coverage, duplicates, outliers, noise floor, imbalance.",
                         "",
                         {"perfcast corpus check", "perfcast corpus check --croissant published"},
                         "corpus"},
                        [&context, checked] {
                          return checked->empty() ? run_check(context) : run_check_croissant(context.options, *checked);
                        });
  add_basic(*check, "--croissant", *checked, "FOLDER",
            "Checks this folder's croissant.json and tables instead, by the rules of MLCommons' Croissant 1.0.");
  auto folder = std::make_shared<std::string>(), program = std::make_shared<std::string>();
  auto croissant = std::make_shared<CroissantArguments>();
  CLI::App* exported = add(
      {"export",
       "Writes the corpus as CSV tables and profiles (JSON lines), or one program's profile.",
       "",
       {"perfcast corpus export folder", "perfcast corpus export --program ID -o p.json"},
       "corpus"},
      [&context, folder, program, croissant] {
        if (!program->empty() && croissant->wanted) {
          return report_error(usage_error("bad-usage", "one program's profile is no data set", "--croissant",
                                          "a FOLDER for all of the corpus, or --program alone"),
                              context.options);
        }
        if (!program->empty()) return run_export_program(context, *program);
        if (folder->empty()) {
          return report_error(usage_error("bad-usage", "it isn't said where the tables go", "FOLDER",
                                          "a folder to write, or --program ID for one profile: see perfcast corpus "
                                          "export --help"),
                              context.options);
        }
        return croissant->wanted ? run_export_croissant(context, *folder, *croissant) : run_export(context, *folder);
      });
  CLI::Option_group* what = exported->add_option_group("What", "One of");
  add_basic(*what, "folder", *folder, "FOLDER", "The folder to write. It is created where there is none.");
  add_basic(*what, "--program", *program, "ID", "Writes this program's profile (JSON) instead, for predict --profile.");
  what->require_option(0, 1);
  add_croissant_options(*exported, *croissant);
  auto other = std::make_shared<std::string>();
  CLI::App* merge = add({"merge",
                         "Adds another corpus file. Rows with the same key are replaced.",
                         "",
                         {"perfcast corpus merge other.db", "perfcast corpus merge other.db --corpus mine.db"},
                         "corpus"},
                        [&context, other] { return run_merge(context, *other); });
  add_basic(*merge, "other", *other, "OTHER.db", "The corpus file to add.")->required();
  add_corpus_map_command(*verb, context);
  auto trace = std::make_shared<std::string>();
  CLI::App* traced = add(
      {"trace",
       "Checks a trace of profile --windows and says what it holds.",
       "",
       {"perfcast corpus trace t.trace", "perfcast corpus trace t.trace --json"},
       "corpus"},
      [&context, trace] { return run_trace(context, *trace); }, kNoFurtherOption);
  add_basic(*traced, "file", *trace, "FILE", "The trace to read, from: perfcast profile --windows FILE -- COMMAND.")
      ->required();
}

}  // namespace perfcast::cli
