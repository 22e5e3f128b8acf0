#pragma once
// Options that take a time: "60s", "2m", or seconds.

#include <CLI/CLI.hpp>

namespace perfcast::cli {

// For an option whose target is seconds (double): the words of parse_duration_s() are turned into seconds. `zero`: 0 is
// valid, too.
CLI::Option* takes_duration(CLI::Option* option, bool zero = false);

}  // namespace perfcast::cli
