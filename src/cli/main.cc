#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "base/text_width.h"
#include "cli/command.h"
#include "cli/help_text.h"
#include "cli/large_pages.h"
#include "cli/manual.h"
#include "cli/option_table.h"
#include "cli/output_width.h"

namespace perfcast::cli {
namespace {

// A word in the place of a verb, or of what `corpus` can do, that is none. `words`: of the command line.
std::optional<Error> unknown_verb(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* level = &app;
  for (const std::string& word : words) {
    const auto known = verbs_of(*level);
    if (known.empty()) return std::nullopt;
    if (word.starts_with("-")) continue;
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const CLI::App* verb) { return verb->get_name() == word; });
    if (found == known.end()) return no_such_verb(*level, word);
    level = *found;
  }
  return std::nullopt;
}

// What comes before the first option: where help is asked for, nothing else was looked at.
std::vector<std::string> first_words(const std::vector<std::string>& words) {
  const auto option = std::find_if(words.begin(), words.end(), [](const auto& word) { return word.starts_with("-"); });
  return {words.begin(), option};
}

bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) return true;
  }
  return false;
}

struct NamedVerb {
  const char* name;
  void (*add)(CLI::App&, CommandContext&);
};
struct VerbGroup {
  const char* title;
  std::vector<NamedVerb> verbs;
};

// The verb called `word` alone, so that no others' options are made; all of them where there is none of that name.
void add_verbs(CLI::App& app, CommandContext& context, const std::string& word) {
  const VerbGroup groups[] = {
      {"Forecast programs",
       {{"predict", add_predict_command},
        {"place", add_place_command},
        {"profile", add_profile_command},
        {"phases", add_phases_command},
        {"cores", add_cores_command}}},
      {"Measure this machine",
       {{"diagnose", add_diagnose_command},
        {"compare", add_compare_command},
        {"tune", add_tune_command},
        {"watch", add_watch_command},
        {"energy", add_energy_command},
        {"power", add_power_command},
        {"gemm", add_gemm_command},
        {"doctor", add_doctor_command},
        {"metrics", add_metrics_command}}},
      {"AI systems", {{"llm", add_llm_command}, {"bench", add_bench_command}, {"audit", add_audit_command}}},
      {"Clusters",
       {{"schedule", add_schedule_command},
        {"capacity", add_capacity_command},
        {"slurm", add_slurm_command},
        {"serve", add_serve_command}}},
      {"Your own data",
       {{"collect", add_collect_command},
        {"import", add_import_command},
        {"corpus", add_corpus_command},
        {"train", add_train_command},
        {"adapt", add_adapt_command},
        {"evaluate", add_evaluate_command},
        {"export", add_export_command}}},
      {"", {{"", add_help_commands}}}};  // the last: they describe all others
  for (const VerbGroup& group : groups) {
    for (const NamedVerb& verb : group.verbs) {
      if (!word.empty() && word == verb.name) return verb.add(app, context);
    }
  }
  for (const VerbGroup& group : groups) {
    const size_t before = verbs_of(app).size();
    for (const NamedVerb& verb : group.verbs) verb.add(app, context);
    const auto verbs = app.get_subcommands([](CLI::App*) { return true; });
    for (size_t i = before; i < verbs.size(); ++i) verbs[i]->group(group.title);
  }
}

// Where the words of the program begin that a verb runs, without a "--" before them: at the first that is neither an
// option nor its value. Their number where there is none. `words`: of the command line, the verb first.
size_t program_begin(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) return 0;
  for (const CLI::App* level : verbs_of(app)) {
    const auto* verb = dynamic_cast<const Verb*>(level);
    if (verb == nullptr || verb->get_name() != words.front() || !verb->text().usage.starts_with("-- ")) continue;
    const auto has_words_of_its_own = [](const CLI::Option* option) { return option->get_positional(); };
    if (!verb->get_options(has_words_of_its_own).empty()) continue;  // phases: a word may be a profile
    for (size_t i = 1; i < words.size(); ++i) {
      if (!words[i].starts_with("-")) return i;
      const bool is_long = words[i].starts_with("--");
      const size_t name_bytes = is_long ? words[i].find('=') : 2;
      const CLI::Option* option = verb->get_option_no_throw(words[i].substr(0, name_bytes));
      if (option == nullptr) return words.size();  // a mistake, which the parser tells
      if (option->get_items_expected_max() == 0) continue;
      if (name_bytes >= words[i].size()) ++i;  // its value is the next word
      while (option->get_allow_extra_args() && i + 1 < words.size() && !words[i + 1].starts_with("-")) ++i;
    }
  }
  return words.size();
}

// The verb that was chosen, and its own: "llm", "analyze".
const CLI::App* chosen_verb(const CLI::App& app) {
  const CLI::App* verb = &app;
  for (auto chosen = verb->get_subcommands(); !chosen.empty(); chosen = verb->get_subcommands()) verb = chosen.front();
  return verb;
}

int run(int argc, char** argv) {
  CommandContext context;
  // Everything after the first "--" is the program to measure: CLI11 never sees it.
  std::vector<std::string> own;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--") {
      context.command.assign(argv + i + 1, argv + argc);
      break;
    }
    own.emplace_back(argv[i]);
  }

  CLI::App app("Profile a program once; know how it runs everywhere.", "perfcast");
  app.set_help_flag("-h,--help", "Prints the options you will need, with examples.");
  app.set_help_all_flag("--help-all", "Prints all options.");
  app.set_version_flag("-V,--version", "perfcast " PERFCAST_VERSION);
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpText>());
  add_verbs(app, context, own.empty() ? "" : own.front());
  app.footer(
      "  perfcast predict -- ./prog args\n"
      "  perfcast compare './old args' './new args'\n"
      "  perfcast llm forecast llama3-8b --on H100,A100-80GB\n"
      "More: perfcast VERB --help, help --man, completion bash. Exit status: 0 done, 1 failed, 2 bad usage.");
  if (const size_t begin = program_begin(app, own); begin < own.size()) {
    own.resize(begin);
    context.command.assign(argv + 1 + begin, argv + argc);  // a "--" among them is the program's
  }
  const std::vector<std::string> words = own;
  if (words.empty() && context.command.empty()) return write_result(app.help(), context.options);
  std::reverse(own.begin(), own.end());  // CLI11 takes its vector from the back
  try {
    app.parse(own);
  } catch (const CLI::Success& success) {
    if (const auto unknown = unknown_verb(app, first_words(words))) return report_error(*unknown, context.options);
    return app.exit(success);
  } catch (const CLI::ParseError& problem) {
    context.options.json = wants_json(argc, argv);
    if (const auto unknown = unknown_verb(app, words)) return report_error(*unknown, context.options);
    std::string verb;  // with its own verb, as in "llm analyze"
    for (auto chosen = app.get_subcommands(); !chosen.empty(); chosen = chosen.front()->get_subcommands()) {
      verb.append(" ").append(chosen.front()->get_name());
    }
    const std::string expected = "see: perfcast" + verb + " --help";
    std::string message = problem.what();
    if (dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr) {  // whose text names them from last to first
      std::vector<std::string> extra = app.remaining(true);
      std::stable_sort(extra.begin(), extra.end(), [&](const std::string& a, const std::string& b) {
        return std::find(words.begin(), words.end(), a) < std::find(words.begin(), words.end(), b);
      });
      message = (extra.size() == 1 ? "The following argument was not expected: "
                                   : "The following arguments were not expected: ") +
                join(extra, " ");
    } else if (problem.get_name() == "RequiredError" && message.starts_with("A subcommand is required")) {
      message = "one of its own verbs is missing";
    }
    return report_error(usage_error("bad-usage", message, "", expected), context.options);
  }
  context.options.verb = chosen_verb(app);
  if (context.options.output == "-") set_most_columns(output_columns());
  if (!context.options.quiet) {
    for (const std::string& note : renamed_options(*context.options.verb, words))
      std::fputs(("perfcast: " + note + "\n").c_str(), stderr);
  }
  return context.run();
}

// Where no handler is: before main(), in a thread, while an error is reported. Nothing here takes memory.
[[noreturn]] void end_by_exception() {
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    constexpr char kMessage[] = "perfcast: memory ran out\n  expected: more memory, or a smaller input\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
    _exit(kExitFailure);
  } catch (...) {
  }
  std::abort();
}

// Before the constructors of all other static objects.
[[gnu::constructor(101)]] void set_end_by_exception() { std::set_terminate(end_by_exception); }

}  // namespace
}  // namespace perfcast::cli

int main(int argc, char** argv) {
  perfcast::cli::use_large_pages();
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of the write that meets it
  try {
    return perfcast::cli::run(argc, argv);
  } catch (const std::exception& problem) {
    perfcast::cli::CommonOptions options;
    options.json = perfcast::cli::wants_json(argc, argv);
    if (dynamic_cast<const std::bad_alloc*>(&problem) != nullptr) {
      return perfcast::cli::report_error(
          perfcast::environment_error("out-of-memory", "memory ran out", "", "more memory, or a smaller input"),
          options);
    }
    return perfcast::cli::report_error({"internal-error", std::string("internal error: ") + problem.what(), "",
                                        "a report of this, with the command line: it is a mistake of perfcast"},
                                       options);
  }
}
