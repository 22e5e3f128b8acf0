#include "cli/shared/forecast_input.h"

#include <forward_list>
#include <memory>
#include <thread>

#include "base/file.h"
#include "cli/shared/named_file.h"
#include "profile/metrics/catalogue.h"
#include "program/model/bundle/bundle.h"

namespace perfcast::cli {

Result<program::Forecaster> open_forecaster(const CommonOptions& options) {
  // The catalogue of metrics is needed by the bundle's models: it is read meanwhile.
  const std::jthread catalogue([] { Catalogue::built_in(); });
  auto bundle = program::read_bundle(options.bundle);
  if (!bundle) {
    Error error = as_named_file(bundle.error(), options.bundle_given);
    if (error.code == "file-not-found") {
      error.message = "there is no bundle of trained models: " + error.message;
      error.expected = "--bundle FILE, or a new one: perfcast train --model auto -o FILE";
    }
    return error;
  }
  // Kept until the process ends: giving back its many small parts takes longer than a forecast.
  static auto& kept = *new std::forward_list<std::shared_ptr<const program::Bundle>>();
  kept.push_front(std::make_shared<const program::Bundle>(std::move(*bundle)));
  return program::Forecaster(kept.front());
}

Status check_profiles(const std::vector<std::string>& given) {
  for (const std::string& each : given) {
    if (Status kept = check_last_profile(each); !kept) return kept;
    if (Status there = check_named_file("--profile", profile_path(each)); !there) return there;
  }
  return {};
}

}  // namespace perfcast::cli
