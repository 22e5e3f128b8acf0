// perfcast bench: AI systems measured, and results that others published.

#include "cli/bench_command.h"

namespace perfcast {

void add_bench_command(CLI::App& app, CommandContext& context) {
  CLI::App* verb = app.add_subcommand("bench", "AI systems: time to accuracy, published results side by side");
  verb->require_subcommand(1);
  add_bench_train_command(*verb, context);
  add_bench_results_command(*verb, context);
}

}  // namespace perfcast
