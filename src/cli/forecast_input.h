#pragma once
// What verbs that forecast have in common: the bundle, and errors of a request in the words of the command line.

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "model/forecast/forecaster.h"

namespace perfcast {

// Of --bundle. Errors as read_bundle(); where there is none, it says how to make one.
Result<Forecaster> open_forecaster(const CommonOptions& options);

// An error of scenario/forecast.h with the options that its fields come from: "reference" becomes "--reference", and a
// program that failed can be accepted.
Error with_option_names(Error error);

}  // namespace perfcast
