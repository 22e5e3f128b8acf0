#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/command.h"

namespace perfcast {
namespace {

int run(int argc, char** argv) {
  CommandContext context;
  // Everything after the first "--" is the program to measure: CLI11 never sees it.
  std::vector<std::string> own;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--") {
      context.command.assign(argv + i + 1, argv + argc);
      break;
    }
    own.emplace_back(argv[i]);
  }

  CLI::App app("Profile a program once; know how it runs everywhere.", "perfcast");
  app.set_version_flag("--version", "perfcast " PERFCAST_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(36);
  app.footer(
      "Exit status: 0 done, 1 failure, 2 bad usage; `profile` passes the program's own on.\n"
      "Start with:  perfcast predict -- ./prog args");
  add_predict_command(app, context);
  add_profile_command(app, context);
  add_doctor_command(app, context);
  add_collect_command(app, context);
  add_import_command(app, context);
  add_corpus_command(app, context);
  add_train_command(app, context);
  add_evaluate_command(app, context);
  add_metrics_command(app, context);

  const bool wants_json = std::find(own.begin(), own.end(), "--json") != own.end();
  std::reverse(own.begin(), own.end());  // CLI11 takes its vector from the back
  try {
    app.parse(own);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& problem) {
    context.options.json = wants_json;
    const auto chosen = app.get_subcommands();
    const std::string verb = chosen.empty() ? "" : " " + chosen.front()->get_name();
    return report_error({"bad-usage", problem.what(), "", "see: perfcast" + verb + " --help"}, context.options);
  }
  return context.run();
}

}  // namespace
}  // namespace perfcast

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of the write that meets it
  try {
    return perfcast::run(argc, argv);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "perfcast: internal error: %s\n", problem.what());
    return perfcast::kExitFailure;
  }
}
