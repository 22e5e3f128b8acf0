// Any bytes as a bundle of half-precision models: no crash; what is accepted reads back to the same text, and its
// forecasts are times.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ai/latency/model/half_precision_file.h"
#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto bundle = parse_half_precision({reinterpret_cast<const char*>(data), size}, "input");
  if (!bundle) return 0;
  const std::string text = to_text(to_json(*bundle));
  const auto back = parse_half_precision(text, "again");
  if (!back || to_text(to_json(*back)) != text) std::abort();
  const auto model = HalfPrecisionModel::for_device(bundle->devices.front().facts, *bundle);
  if (!model) std::abort();
  const double seconds = model->product({1, 100, 1000, 1000, true}, MathMode::kHalf, 2e6).seconds;
  if (!(seconds > 0) || !std::isfinite(seconds)) std::abort();
  if (!(model->vector({VectorKind::kNorm, 100, 1000}, 2).seconds > 0)) std::abort();
  return 0;
}
