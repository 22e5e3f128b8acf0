#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"
#include "program/corpus/importers/import.h"
#include "program/corpus/store/store.h"

namespace perfcast::cli {
namespace {

struct ImportArguments {
  std::string format, path;
  std::vector<std::string> suites;
};

Result<program::ProgramCatalogue> catalogue_for(const program::ImportFormat& format, std::vector<std::string> named) {
  for (const std::string& suite : named.empty() ? format.suites : std::vector<std::string>()) {
    const std::string shipped = shipped_file(suite);
    std::error_code ignored;
    if (format.needs_suite || std::filesystem::exists(shipped, ignored)) named.push_back(shipped);
  }
  return program::ProgramCatalogue::read(named);
}

// A disk that fills up leaves no corpus with nothing in it.
Status write_corpus(const std::string& path, const program::Corpus& additions, bool adds) {
  std::error_code ignored;
  const bool is_new = !std::filesystem::exists(path, ignored);
  Status written = [&]() -> Status {
    auto store = program::CorpusStore::open(path);
    if (!store) return store.error();
    return adds ? (*store)->merge(additions) : (*store)->replace_sources(additions);
  }();
  if (written || !is_new) return written;
  const auto store = program::CorpusStore::open_read_only(path);
  const auto left = store ? (*store)->load() : Result<program::Corpus>(store.error());
  if (left ? left->sources.empty() : left.error().code == "not-a-corpus") std::filesystem::remove(path, ignored);
  return written;
}

int run_import(const CommandContext& context, const ImportArguments& arguments) {
  const CommonOptions& common = context.options;
  const auto format = program::find_import_format(arguments.format);
  if (!format) return report_error(format.error(), common);
  std::vector<std::pair<const char*, std::string>> files = {{"PATH", arguments.path}};
  for (const std::string& suite : arguments.suites) files.emplace_back("--suite", suite);
  for (const auto& [option, path] : files) {
    if (const Status there = check_named_file(option, path); !there) return report_error(there.error(), common);
  }
  const auto catalogue = catalogue_for(*format, arguments.suites);
  if (!catalogue) return report_error(catalogue.error(), common);

  ProgressLine progress(common);
  progress.show("reading " + arguments.path);
  const auto result = format->read(arguments.path, *catalogue);
  if (!result) return report_error(result.error(), common);
  progress.show("writing " + common.corpus);
  if (const Status status = write_corpus(common.corpus, result->corpus, format->adds); !status)
    return report_error(status.error(), common);
  return write_result(common.json ? to_text(to_json(*result)) : to_text(*result), common);
}

}  // namespace

void add_import_command(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* verb =
      add_verb(app, {"import",
                     "Reads tables, profiles or a published data set into the corpus.",
                     "",
                     {"perfcast import sparecores folder", "perfcast import table mapping.json --corpus mine.db"},
                     "import"});
  std::string formats = "Formats:";
  std::vector<std::string> names;
  for (const program::ImportFormat& format : program::import_formats()) {
    formats += fmt::format("\n  {:<16}  {}", format.name, format.description);
    names.push_back(format.name);
  }
  add_basic(*verb, "format", arguments->format, "FORMAT", "What the data set is: " + join(names, ", ") + ".")
      ->required();
  add_basic(*verb, "path", arguments->path, "PATH", "The file or folder of the data set.")->required();
  add_basic(*verb, "--suite", arguments->suites, "FILE",
            "A suite file: it says each program's family and group, and whether its times are valid. Repeatable. "
            "Default: the shipped files for the format.")
      ->take_all()
      ->allow_extra_args(false);
  verb->footer(formats +
               "\nIf you import a source of times again, the new data replace its old data. Profiles are added; a new "
               "profile replaces an old one of the same program and CPU. If the import is killed, the corpus is either "
               "unchanged or complete.");
  add_common_options(*verb, context, kCorpusOption | kQuietOption);
  verb->callback(
      [arguments, &context] { context.run = [arguments, &context] { return run_import(context, *arguments); }; });
}

}  // namespace perfcast::cli
