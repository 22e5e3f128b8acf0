#include "cli/forecast_input.h"

#include <memory>

#include "cli/named_file.h"
#include "model/bundle/bundle.h"

namespace perfcast {

Result<Forecaster> open_forecaster(const CommonOptions& options) {
  auto bundle = read_bundle(options.bundle);
  if (!bundle) {
    Error error = as_named_file(bundle.error(), options.bundle_given);
    if (error.code == "file-not-found") {
      error.message = "there is no bundle of trained models: " + error.message;
      error.expected = "--bundle FILE, or a new one: perfcast train --model auto -o FILE";
    }
    return error;
  }
  return Forecaster(std::make_shared<const Bundle>(std::move(*bundle)));
}

Error with_option_names(Error error) {
  for (const char* field : {"reference", "measured", "filter", "host", "weights"}) {
    if (error.where == field) error.where.insert(0, "--");
  }
  if (error.code == "program-failed") error.expected += ", or --accept-failure to forecast it all the same";
  return error;
}

}  // namespace perfcast
