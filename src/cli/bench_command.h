#pragma once
// What the sub-commands of `perfcast bench` are. Each is one bench_*_command.cc.

#include "cli/command.h"

namespace perfcast {

void add_bench_train_command(CLI::App& bench, CommandContext& context);
void add_bench_results_command(CLI::App& bench, CommandContext& context);

}  // namespace perfcast
