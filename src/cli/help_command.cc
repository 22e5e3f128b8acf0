// perfcast help [VERB ...], perfcast completion SHELL: all made from the descriptions of the commands themselves.

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/manual.h"

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
  // CLI11 puts the verb's own name behind what stands before it.
  std::vector<std::string> before = {"perfcast"};
  if (!arguments.words.empty()) before.insert(before.end(), arguments.words.begin(), arguments.words.end() - 1);
  return write_result(level->help(arguments.words.empty() ? "" : join(before, " ")), context.options);
}

int complete(const CLI::App& app, const std::string& shell, const CommandContext& context) {
  const auto script = completion_script(app, shell);
  return script ? write_result(*script, context.options) : report_error(script.error(), context.options);
}

}  // namespace

void add_help_commands(CLI::App& app, CommandContext& context) {
  auto arguments = std::make_shared<HelpArguments>();
  CLI::App* verb = app.add_subcommand("help", "The help of a verb; --man: all of it as a manual page");
  verb->add_option("verb", arguments->words, "Verb, such as: corpus info")->option_text("VERB ...");
  verb->add_flag("--man", arguments->manual, "As a manual page (troff): perfcast help --man | man -l -");
  verb->callback([arguments, &app, &context] {
    context.run = [arguments, &app, &context] { return help(app, *arguments, context); };
  });

  auto shell = std::make_shared<std::string>();
  verb = app.add_subcommand("completion", "A completion script: source <(perfcast completion bash)");
  verb->add_option("shell", *shell, "bash, zsh or fish")->required()->option_text("SHELL");
  verb->callback(
      [shell, &app, &context] { context.run = [shell, &app, &context] { return complete(app, *shell, context); }; });
}

}  // namespace perfcast::cli
