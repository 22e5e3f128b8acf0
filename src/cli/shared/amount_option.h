#pragma once
// Options that take a number of 0 or more.

#include <CLI/CLI.hpp>

namespace perfcast::cli {

// For an option whose target is a double: finite and not below 0, or an error that says so.
CLI::Option* takes_amount(CLI::Option* option);

}  // namespace perfcast::cli
