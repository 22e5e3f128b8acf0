#pragma once
// The verbs of `perfcast bench`, each in a source of its own.

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace perfcast {

void add_bench_run_command(CLI::App& bench, CommandContext& context);

}  // namespace perfcast
