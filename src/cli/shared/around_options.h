#pragma once
// --prepare and --cleanup, of every verb that runs the user's program several times.

#include <CLI/CLI.hpp>

#include "base/process/process.h"

namespace perfcast::cli {

void add_around_options(CLI::App& verb, AroundRun& around);

}  // namespace perfcast::cli
