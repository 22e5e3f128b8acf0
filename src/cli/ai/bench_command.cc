// perfcast bench: AI systems measured by the field's rules, and results that others published.

#include "cli/ai/bench_command.h"

#include "cli/option_table.h"

namespace perfcast::cli {

void add_bench_command(CLI::App& app, CommandContext& context) {
  CLI::App* verb = add_verb(app, {"bench",
                                  "Measures AI systems by rules that follow MLPerf, and compares published results.",
                                  "",
                                  {"perfcast bench run --scenario server --target-qps 100 --duration 10s",
                                   "perfcast bench train --metric accuracy --threshold 0.9 -- ./train --seed {seed}"},
                                  "bench"});
  verb->require_subcommand(1);
  add_bench_run_command(*verb, context);
  add_bench_serve_command(*verb, context);
  add_bench_train_command(*verb, context);
  add_bench_results_command(*verb, context);
  add_bench_runs_command(*verb, context);
}

}  // namespace perfcast::cli
