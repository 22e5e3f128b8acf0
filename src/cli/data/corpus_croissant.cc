#include "cli/data/corpus_croissant.h"

#include <ctime>
#include <filesystem>

#include "base/json.h"
#include "cli/option_table.h"
#include "cli/shared/named_file.h"
#include "program/corpus/croissant/croissant_check.h"

namespace perfcast::cli {
namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

}  // namespace

void add_croissant_options(CLI::App& exported, CroissantArguments& arguments) {
  CLI::Option* wanted = add_basic(exported, "--croissant", arguments.wanted,
                                  "Writes a data set to publish: CSV tables and a croissant.json, which describes them "
                                  "in MLCommons' Croissant 1.0.");
  program::CroissantInfo& info = arguments.info;
  const auto add = [&](const char* name, std::string& value, const char* help) {
    add_advanced(exported, name, value, "TEXT", help)->needs(wanted);
  };
  add("--license", info.license,
      "The URL of the licence that the set is published under. Default: that of all its sources.");
  add("--url", info.url, "The address where the set is published.");
  add("--creator", info.creator, "The person or group that publishes the set.");
  add("--name", info.name, "The name of the set. Default: that of the corpus file.");
  add("--description", info.description, "Says what the set is. Sources and their licences are added.");
  add("--cite", info.citation, "How to cite the set, as BibTeX. Default: made from the other options.");
  add("--date", info.date_published, "The day of publication, such as 2026-11-24. Default: today.");
  add_advanced(exported, "--data-version", info.version, "VERSION", "The version of the data: MAJOR.MINOR.PATCH.")
      ->needs(wanted)
      ->capture_default_str();
}

program::CroissantInfo croissant_info(const CroissantArguments& arguments, const program::Corpus& corpus,
                                      const CommonOptions& options) {
  program::CroissantInfo info = arguments.info;
  if (info.name.empty()) info.name = std::filesystem::path(options.corpus).stem().string();
  if (info.license.empty()) info.license = program::common_licence(corpus);
  if (info.date_published.empty()) info.date_published = today();
  return info;
}

int run_check_croissant(const CommonOptions& options, const std::string& folder) {
  const auto check = program::check_croissant_folder(folder);
  if (!check) return report_error(as_named_file(check.error(), true), options);
  const int written = write_result(options.json ? to_text(to_json(*check, folder)) : to_text(*check, folder), options);
  return written == kExitDone && check->findings.mistakes() > 0 ? kExitFailure : written;
}

}  // namespace perfcast::cli
