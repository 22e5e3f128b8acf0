#pragma once
// What --help and --help-all print, and what perfcast prints alone.

#include <CLI/CLI.hpp>
#include <string>

namespace perfcast::cli {

// --help: basic options, examples, where to read on, in 40 lines of 100 columns. --help-all: all options and the
// verb's footer. For the program itself: its verbs in their groups, in the order in which they were added.
class HelpText : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace perfcast::cli
