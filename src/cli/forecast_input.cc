#include "cli/forecast_input.h"

#include <memory>

#include "model/bundle/bundle.h"

namespace perfcast {

Result<Forecaster> open_forecaster(const std::string& bundle_path) {
  auto bundle = read_bundle(bundle_path);
  if (!bundle) {
    Error error = bundle.error();
    if (error.code == "file-not-found") {
      error.message = "there is no bundle of trained models: " + error.message;
      error.expected = "--bundle FILE, or a new one: perfcast train --model auto -o FILE";
    }
    return error;
  }
  return Forecaster(std::make_shared<const Bundle>(std::move(*bundle)));
}

Status check_success(const Profile& profile, bool accept_failure) {
  if (profile.ok() || accept_failure) return {};
  if (!profile.signal && !profile.exit_code) {
    return Error{"program-failed", "the profile does not say how the program ended: the field exit_code is missing",
                 profile.program, "exit_code 0 in the profile, or --accept-failure to forecast it all the same"};
  }
  const std::string how = profile.signal ? "was killed by signal " + std::to_string(*profile.signal)
                                         : "exited with status " + std::to_string(*profile.exit_code);
  return Error{"program-failed", "the program " + how + ": its counters may be those of an error path", profile.program,
               "a run that succeeds, or --accept-failure to forecast it all the same"};
}

}  // namespace perfcast
