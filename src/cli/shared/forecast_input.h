#pragma once
// What verbs that forecast have in common: the bundle, and errors of a request in the words of the command line.

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/shared/last_profile.h"
#include "program/model/forecast/forecaster.h"

namespace perfcast::cli {

// Of --bundle. Errors as read_bundle(); where there is none, it says how to make one.
Result<program::Forecaster> open_forecaster(const CommonOptions& options);

// Whether those that --profile names are there.
Status check_profiles(const std::vector<std::string>& given);

}  // namespace perfcast::cli
