#pragma once
// What verbs that forecast begin with: the bundle and a profile that may be forecast.

#include <string>

#include "base/result.h"
#include "corpus/profile.h"
#include "model/forecast/forecaster.h"

namespace perfcast {

// Errors as read_bundle(); where there is none, it says how to make one.
Result<Forecaster> open_forecaster(const std::string& bundle_path);

// Error "program-failed" for the profile of a run that failed, or that does not say how it ended, unless accepted.
Status check_success(const Profile& profile, bool accept_failure);

}  // namespace perfcast
