#include "cli/option_table.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

namespace perfcast::cli {

Verb::Verb(VerbText text, CLI::App& parent) : CLI::App(text.summary, text.name, &parent), text_(std::move(text)) {}

CLI::App* add_verb(CLI::App& parent, VerbText text) {
  return parent.add_subcommand(std::make_shared<Verb>(std::move(text), parent));
}

std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
}

Status check_unused(const CLI::App& verb, const std::string& way, std::initializer_list<const char*> options,
                    const std::string& expected) {
  for (const char* option : options) {
    if (verb.get_option(option)->count() > 0)
      return usage_error("bad-usage", std::string(option) + " has no effect with " + way, option, expected);
  }
  return {};
}

Error with_option_names(Error error, const CLI::App& verb) {
  if (error.code == "program-failed" && verb.get_option_no_throw("--accept-failure") != nullptr &&
      error.expected.find("--accept-failure") == std::string::npos)
    error.expected += ", or --accept-failure to forecast it all the same";
  std::string field = error.where;
  if (field.ends_with("_s")) field.resize(field.size() - 2);
  std::replace(field.begin(), field.end(), '_', '-');
  std::error_code ignored;
  // A file of an option's name stays a file.
  if (field.empty() || field.starts_with("-") || std::filesystem::exists(error.where, ignored)) return error;
  if (const CLI::Option* option = verb.get_option_no_throw("--" + field)) error.where = name_of(*option);
  return error;
}

std::vector<std::string> renamed_options(const CLI::App& verb, const std::vector<std::string>& words) {
  std::vector<std::string> notes;
  for (const std::string& word : words) {
    const std::string given = word.substr(0, word.find('='));
    if (!given.starts_with("--")) continue;
    const CLI::Option* option = verb.get_option_no_throw(given);
    if (option != nullptr && name_of(*option) != given && !option->get_lnames().empty())
      notes.push_back(given + " is now " + name_of(*option));
  }
  return notes;
}

}  // namespace perfcast::cli
