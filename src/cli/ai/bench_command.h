#pragma once
// The verbs of `perfcast bench`, each in a source of its own: bench_*_command.cc.

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace perfcast::cli {

void add_bench_run_command(CLI::App& bench, CommandContext& context);
void add_bench_serve_command(CLI::App& bench, CommandContext& context);
void add_bench_train_command(CLI::App& bench, CommandContext& context);
void add_bench_results_command(CLI::App& bench, CommandContext& context);
void add_bench_runs_command(CLI::App& bench, CommandContext& context);

}  // namespace perfcast::cli
