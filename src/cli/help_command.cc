// perfcast help [VERB ...], perfcast completion SHELL: all made from the descriptions of the commands themselves.

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/manual.h"
#include "cli/option_table.h"

namespace perfcast::cli {
namespace {

struct HelpArguments {
  std::vector<std::string> words;
  bool manual = false;
};

int help(const CLI::App& app, const HelpArguments& arguments, const CommandContext& context) {
  if (arguments.manual && !arguments.words.empty()) {
    return report_error(usage_error("bad-usage", "one manual page describes all verbs", "--man", "--man alone"),
                        context.options);
  }
  if (arguments.manual) return write_result(manual_page(app, PERFCAST_VERSION), context.options);
  const CLI::App* level = &app;
  for (const std::string& word : arguments.words) {
    const auto verbs = verbs_of(*level);
    const auto found =
        std::find_if(verbs.begin(), verbs.end(), [&](const auto* verb) { return verb->get_name() == word; });
    if (found == verbs.end()) return report_error(no_such_verb(*level, word), context.options);
    level = *found;
  }
  return write_result(level->help(), context.options);
}

int complete(const CLI::App& app, const std::string& shell, const CommandContext& context) {
  const auto script = completion_script(app, shell);
  return script ? write_result(*script, context.options) : report_error(script.error(), context.options);
}

}  // namespace

void add_help_commands(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<HelpArguments>();
  CLI::App* verb = add_verb(app, {"help",
                                  "Prints the help of a verb, or a manual page of all verbs.",
                                  "",
                                  {"perfcast help corpus info", "perfcast help --man | man -l -"},
                                  "README"});
  add_basic(*verb, "verb", arguments->words, "VERB ...", "The verb, such as: corpus info.");
  add_basic(*verb, "--man", arguments->manual,
            "Prints one manual page (troff) of all verbs. Read it with: perfcast help --man | man -l -.");
  verb->callback([arguments, &app, &context] {
    context.run = [arguments, &app, &context] { return help(app, *arguments, context); };
  });

  auto shell = std::make_shared<std::string>();
  verb = add_verb(app, {"completion",
                        "Prints a completion script for your shell.",
                        "",
                        {"source <(perfcast completion bash)",
                         "perfcast completion fish > ~/.config/fish/completions/perfcast.fish"},
                        "README"});
  add_basic(*verb, "shell", *shell, "bash|zsh|fish", "Your shell.")->required();
  verb->callback(
      [shell, &app, &context] { context.run = [shell, &app, &context] { return complete(app, *shell, context); }; });
}

}  // namespace perfcast::cli
