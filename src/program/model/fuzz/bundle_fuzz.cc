// Bundles from outside: no input may crash the reader, or the forecasts of what it accepts and their attributions.

#include <cstdint>
#include <memory>
#include <utility>

#include "base/fuzz/mended_checksum.h"
#include "program/model/attribution/feature_attribution.h"
#include "program/model/bundle/bundle.h"
#include "program/model/forecast/forecaster.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto bundle = perfcast::program::parse_bundle(with_mended_checksum(data, size), "fuzz");
  if (!bundle) return 0;
  perfcast::Profile profile;
  profile.metrics["instructions_count"] = 1000;
  profile.metrics["loads_count"] = 300;
  perfcast::Profile other = profile;
  other.metrics["loads_count"] = 10;
  static_cast<void>(perfcast::program::attribute_features(*bundle->predictor, {&profile, &other}));
  const perfcast::program::Forecaster forecaster(std::make_shared<const perfcast::program::Bundle>(std::move(*bundle)));
  const auto forecast = forecaster.forecast(profile, {});
  if (forecast && forecast->log_rpv.size() > 0) perfcast::program::Forecaster::relative_to(*forecast, 0);
  return 0;
}
