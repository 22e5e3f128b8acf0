#include "cli/shared/around_options.h"

#include "cli/option_table.h"

namespace perfcast::cli {

void add_around_options(CLI::App& verb, AroundRun& around) {
  add_basic(verb, "--prepare", around.prepare, "LINE",
            "Runs this shell line before each run, untimed, such as 'make clean'.");
  add_advanced(verb, "--cleanup", around.cleanup, "LINE",
               "Runs this shell line after each run, untimed. If it or --prepare fails, nothing more runs.");
}

}  // namespace perfcast::cli
