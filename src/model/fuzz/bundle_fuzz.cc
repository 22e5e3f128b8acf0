// Bundles from outside: no input may crash the reader, or the forecasts of what it accepts and their attributions. The
// checksum is mended first, or nothing behind it would ever be reached.

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "model/attribution/feature_attribution.h"
#include "model/bundle/bundle.h"
#include "model/forecast/forecaster.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.size() > 4) {
    const size_t content = bytes.size() - 4;
    const auto sum = static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), content));
    std::memcpy(bytes.data() + content, &sum, 4);
  }
  auto bundle = perfcast::parse_bundle(bytes, "fuzz");
  if (!bundle) return 0;
  perfcast::Profile profile;
  profile.metrics["instructions_count"] = 1000;
  profile.metrics["loads_count"] = 300;
  perfcast::Profile other = profile;
  other.metrics["loads_count"] = 10;
  static_cast<void>(perfcast::attribute_features(*bundle->predictor, {&profile, &other}));
  const perfcast::Forecaster forecaster(std::make_shared<const perfcast::Bundle>(std::move(*bundle)));
  const auto forecast = forecaster.forecast(profile, {});
  if (forecast && forecast->log_rpv.size() > 0) perfcast::Forecaster::relative_to(*forecast, 0);
  return 0;
}
