#pragma once
// Meters that an option names, for the verbs that read any.

#include <string>
#include <vector>

#include "machine/meter/meter.h"

namespace perfcast::cli {

// Those of --meter NAME..., or all of this machine where it is not given. Errors of names say --meter.
Result<MeterSet> meters_of_option(const std::vector<std::string>& names, const MeterFileOptions& options = {});

}  // namespace perfcast::cli
