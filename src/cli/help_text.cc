#include "cli/help_text.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "cli/manual.h"
#include "cli/option_table.h"
#include "cli/output_width.h"

namespace perfcast::cli {
namespace {

constexpr size_t kOptionColumn = 28, kVerbColumn = 12;

// "  NAME   text": the text in its own column, from the next line on where the name is too long.
std::string entry(const std::string& name, const std::string& text, size_t column) {
  const std::string indent(column, ' ');
  const std::string start = "  " + name;
  if (start.size() + 2 <= column) {
    return wrapped(text, prose_columns(), start + std::string(column - start.size(), ' '), indent) + "\n";
  }
  return start + "\n" + wrapped(text, prose_columns(), indent, indent) + "\n";
}

// "perfcast llm forecast"
std::string words_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : words_of(*app.get_parent()) + " " + app.get_name();
}

bool is_help(const CLI::App& app, const CLI::Option* option) {
  return option == app.get_help_ptr() || option == app.get_help_all_ptr();
}

// Of the verb and of its groups of options that exclude each other.
std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  std::vector<const CLI::Option*> options = app.get_options();
  for (const CLI::App* part : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (part->get_name().empty()) {
      for (const CLI::Option* option : part->get_options()) options.push_back(option);
    }
  }
  std::erase_if(options,
                [&](const CLI::Option* option) { return is_help(app, option) || option->get_group().empty(); });
  std::stable_sort(options.begin(), options.end(), [](const CLI::Option* a, const CLI::Option* b) {
    return !a->nonpositional() && b->nonpositional();
  });
  return options;
}

// "-o, --output FILE"
std::string written_names(const CLI::Option& option) {
  if (!option.nonpositional()) return option.get_option_text();
  std::string text;
  for (const std::string& name : option.get_snames()) text += "-" + name + ", ";
  text += name_of(option);
  return option.get_option_text().empty() ? text : text + " " + option.get_option_text();
}

// "all,table1" and "time, cost" alike.
std::vector<std::string> list_items(const std::string& text) {
  std::vector<std::string> items;
  for (const std::string& item : split(text, ',')) items.emplace_back(trim(item));
  return items;
}

// The sentence, the words that are valid, the default.
std::string description_of(const CLI::Option& option) {
  std::string text = option.get_description();
  const std::string& value = option.get_option_text();
  const std::string type = option.get_type_name();
  const size_t open = type.find('{'), close = type.rfind('}');
  if (value.find('|') == std::string::npos && open != std::string::npos && close != std::string::npos && close > open) {
    text += " One of: " + join(list_items(type.substr(open + 1, close - open - 1)), ", ") + ".";
  }
  const std::string preset = option.get_default_str();
  if (preset.empty() || preset == "[]" || value.empty()) return text;
  return text + " Default: " + preset + ".";
}

std::string usage_of(const CLI::App& app) {
  std::string text = "Usage: " + words_of(app);
  if (!verbs_of(app).empty()) return text + " VERB [OPTIONS]\n";
  text += " [OPTIONS]";
  for (const CLI::Option* option : shown_options(app)) {
    if (option->nonpositional()) continue;
    const std::string& name = option->get_option_text();
    text += " ";
    text += option->get_required() ? name : "[" + name + "]";
  }
  const auto* verb = dynamic_cast<const Verb*>(&app);
  if (verb != nullptr && !verb->text().usage.empty()) text += " " + verb->text().usage;
  return wrapped(text, prose_columns(), "", "    ") + "\n";
}

std::string options_text(const CLI::App& app, bool all) {
  std::vector<std::string> groups = {kBasicGroup};
  const std::vector<const CLI::Option*> options = shown_options(app);
  if (all) {
    for (const CLI::Option* option : options) {
      const std::string& group = option->get_group();
      if (group != kCommonGroup && std::find(groups.begin(), groups.end(), group) == groups.end())
        groups.push_back(group);
    }
    groups.emplace_back(kCommonGroup);
  }
  std::string text;
  for (const std::string& group : groups) {
    std::string entries;
    for (const CLI::Option* option : options) {
      if (option->get_group() == group)
        entries += entry(written_names(*option), description_of(*option), kOptionColumn);
    }
    if (!entries.empty()) text.append("\n").append(group).append(":\n").append(entries);
  }
  return text;
}

std::string examples_text(const std::vector<std::string>& examples) {
  std::string text = "\nExamples:\n";
  for (const std::string& example : examples) text += wrapped(example, prose_columns(), "  ", "      ") + "\n";
  return text;
}

// Lines of a list, "  NAME  TEXT", go on below their text.
std::string footer_text(const CLI::App& app) {
  std::string text;
  for (const std::string& line : split(trim(app.get_footer()), '\n')) {
    const bool is_item = line.starts_with("  ");
    const std::string indent(is_item ? line.rfind("  ") + 2 : 0, ' ');
    text += wrapped(line.substr(indent.size()), prose_columns(), line.substr(0, indent.size()), indent) + "\n";
  }
  return text;
}

std::string verb_page(const Verb& app, bool all) {
  std::string text = wrapped(app.text().summary, prose_columns()) + "\n" + usage_of(app);
  const std::string words = words_of(app);
  if (const auto verbs = verbs_of(app); !verbs.empty()) {
    text += "\nVerbs:\n";
    for (const CLI::App* verb : verbs) text += entry(verb->get_name(), verb->get_description(), kVerbColumn + 8);
    text += examples_text(app.text().examples);
    return text + "\n" +
           wrapped("Each verb explains itself: " + words + " VERB --help. Read on: docs/" + app.text().page + ".md",
                   prose_columns()) +
           "\n";
  }
  text += options_text(app, all) + examples_text(app.text().examples);
  if (all && !app.get_footer().empty()) text += "\n" + footer_text(app);
  std::string end = "Read on: docs/" + app.text().page + ".md";
  if (!all) {
    const bool common = app.get_option_no_throw("--json") != nullptr;
    end = (common ? "Also: -o FILE for the result, --json for machines. " : "") + ("All options: " + words) +
          " --help-all. " + end;
  }
  return text + "\n" + wrapped(end, prose_columns()) + "\n";
}

std::string front_page(const CLI::App& app) {
  std::string text =
      wrapped(app.get_description(), prose_columns()) + "\nUsage: perfcast VERB [OPTIONS] [-- COMMAND ARGS...]\n";
  std::string group;
  for (const CLI::App* verb : verbs_of(app)) {
    if (verb->get_group().empty()) continue;
    if (verb->get_group() != group) text += verb->get_group() + ":\n";
    group = verb->get_group();
    text += entry(verb->get_name(), verb->get_description(), kVerbColumn);
  }
  return text + "Examples:\n" + wrapped(app.get_footer(), prose_columns()) + "\n";
}

}  // namespace

std::string HelpText::make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const {
  const auto* verb = dynamic_cast<const Verb*>(app);
  return verb == nullptr ? front_page(*app) : verb_page(*verb, mode == CLI::AppFormatMode::All);
}

}  // namespace perfcast::cli
