// In place of bench_serve_command.cc in builds without the built-in transformer.
#include "cli/ai/bench_command.h"

namespace perfcast::cli {

void add_bench_serve_command(CLI::App& bench, CommandContext& context) {
  CLI::App* verb = bench.add_subcommand("serve", "The built-in transformer as a server: this build has none");
  add_common_options(*verb, context, kQuietOption | kSeedOption | kThreadsOption);
  verb->allow_extras();
  verb->callback([&context] {
    context.run = [&context] {
      return report_error(usage_error("not-built", "this build of perfcast has no transformer of its own",
                                      "bench serve", "a build with the CMake option PERFCAST_TRANSFORMER"),
                          context.options);
    };
  });
}

}  // namespace perfcast::cli
