#pragma once
// Verbs and their options, each declared once. Parsing, --help, --help-all, completion, the manual page and the names
// in messages come from these declarations.
//
//   CLI::App* verb = add_verb(app, {"cores", "Says what a trace takes on each known core design.", "",
//                                   {"perfcast cores t.trace"}, "cores"});
//   add_basic(*verb, "--time-limit,--budget", arguments->time_limit, "TIME", "Ends the search after this time.");
//
// The first long name is the option's. Further ones are earlier spellings: they work, hidden, with a note on stderr.

#include <CLI/CLI.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace perfcast::cli {

struct VerbText {
  std::string name;
  std::string summary;                // a sentence: what for
  std::string usage;                  // what stands behind the options and positionals: "-- COMMAND ARGS..."
  std::vector<std::string> examples;  // whole command lines
  std::string page;                   // docs/PAGE.md
};

class Verb : public CLI::App {
 public:
  Verb(VerbText text, CLI::App& parent);
  const VerbText& text() const { return text_; }

 private:
  VerbText text_;
};

CLI::App* add_verb(CLI::App& parent, VerbText text);

inline constexpr const char* kBasicGroup = "Options";
inline constexpr const char* kAdvancedGroup = "More options";
inline constexpr const char* kCommonGroup = "Common options";

namespace internal {
template <typename Target>
CLI::Option* add_option(CLI::App& verb, const std::string& names, Target& target, const std::string& value,
                        const std::string& help, const char* group) {
  return verb.add_option(names, target, help)->type_name(value)->option_text(value)->group(group);
}
template <typename Target>
CLI::Option* add_flag(CLI::App& verb, const std::string& names, Target& target, const std::string& help,
                      const char* group) {
  return verb.add_flag(names, target, help)->group(group);
}
}  // namespace internal

// `names` without dashes is a positional. `value` is the value's form or unit: FILE, TIME, SECONDS, N,...
// `help` is a full sentence. Basic options stand in --help, all others in --help-all alone.
template <typename Target>
CLI::Option* add_basic(CLI::App& verb, const std::string& names, Target& target, const std::string& value,
                       const std::string& help) {
  return internal::add_option(verb, names, target, value, help, kBasicGroup);
}
template <typename Target>
CLI::Option* add_basic(CLI::App& verb, const std::string& names, Target& target, const std::string& help) {
  return internal::add_flag(verb, names, target, help, kBasicGroup);
}
template <typename Target>
CLI::Option* add_advanced(CLI::App& verb, const std::string& names, Target& target, const std::string& value,
                          const std::string& help) {
  return internal::add_option(verb, names, target, value, help, kAdvancedGroup);
}
template <typename Target>
CLI::Option* add_advanced(CLI::App& verb, const std::string& names, Target& target, const std::string& help) {
  return internal::add_flag(verb, names, target, help, kAdvancedGroup);
}

// "--time-limit", where the option was declared as "--time-limit,--budget".
std::string name_of(const CLI::Option& option);

// "bad-usage" where one of these options was given, which `way` of using the verb has no use for.
Status check_unused(const CLI::App& verb, const std::string& way, std::initializer_list<const char*> options,
                    const std::string& expected = "one of both");

// Errors of a use case name the request's field ("budget_s", "explain-platform"). Where this verb has an option of that
// name, by any spelling, the error names the option.
Error with_option_names(Error error, const CLI::App& verb);

// "--budget is now --time-limit": one for each earlier spelling among the words of a command line.
std::vector<std::string> renamed_options(const CLI::App& verb, const std::vector<std::string>& words);

}  // namespace perfcast::cli
