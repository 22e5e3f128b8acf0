// In place of export_command.cc in builds without weightless networks.
#include "cli/command.h"

namespace perfcast::cli {

void add_export_command(CLI::App& app, CommandContext& context) {
  CLI::App* verb = app.add_subcommand("export", "A weightless model as source: this build has no such models");
  add_common_options(*verb, context, kBundleOption | kSeedOption);
  verb->allow_extras();
  verb->callback([&context] {
    context.run = [&context] {
      return report_error(usage_error("not-built", "this build of perfcast has no weightless models", "export",
                                      "a build with the CMake option PERFCAST_WEIGHTLESS"),
                          context.options);
    };
  });
}

}  // namespace perfcast::cli
