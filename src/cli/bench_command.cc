// perfcast bench: AI systems measured by the field's rules.

#include "cli/bench_command.h"

namespace perfcast {

void add_bench_command(CLI::App& app, CommandContext& context) {
  CLI::App* verb = app.add_subcommand("bench", "Benchmark AI systems: load scenarios, by the field's rules");
  verb->require_subcommand(1);
  add_bench_run_command(*verb, context);
}

}  // namespace perfcast
