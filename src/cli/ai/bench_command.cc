// perfcast bench: AI systems measured by the field's rules, and results that others published.

#include "cli/ai/bench_command.h"

namespace perfcast::cli {

void add_bench_command(CLI::App& app, CommandContext& context) {
  CLI::App* verb =
      app.add_subcommand("bench", "AI systems: load by the field's rules, time to accuracy, published results");
  verb->require_subcommand(1);
  add_bench_run_command(*verb, context);
  add_bench_train_command(*verb, context);
  add_bench_results_command(*verb, context);
}

}  // namespace perfcast::cli
