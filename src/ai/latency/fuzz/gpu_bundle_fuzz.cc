// Any bytes as a bundle of GPU models: no crash; what is accepted is written as it was read, and forecasts are finite.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ai/latency/model/gpu_bundle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto bundle = parse_gpu_bundle({reinterpret_cast<const char*>(data), size}, "input");
  if (!bundle) return 0;
  const auto back = parse_gpu_bundle(gpu_bundle_text(*bundle), "again");
  if (!back || gpu_bundle_text(*back) != gpu_bundle_text(*bundle)) std::abort();
  for (const GpuModels& models : bundle->fitted) {
    if (!models.has_products()) continue;
    if (std::isnan(models.product({1, 300, 200, 100, true}).seconds)) std::abort();
  }
  return 0;
}
