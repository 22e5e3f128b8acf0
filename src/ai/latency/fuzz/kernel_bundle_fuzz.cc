// Any bytes: no crash; what is accepted is written as it was read, and gives times above 0 or none.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "ai/latency/kernels/kernel_bundle_file.h"
#include "ai/latency/kernels/kernel_times.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  auto bundle = parse_kernel_bundle({reinterpret_cast<const char*>(data), size}, "kernels.json");
  if (!bundle) return 0;
  const std::string text = kernel_bundle_text(*bundle);
  const auto again = parse_kernel_bundle(text, "again.json");
  if (size < 4096 && (!again || again->donors.size() != bundle->donors.size())) std::abort();
  DeviceFacts facts;
  facts.units = 100;
  facts.clock_hz = 1e9;
  facts.memory_bytes_per_s = 1e12;
  facts.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 1e14;
  const KernelTimes times(facts, std::make_shared<const KernelBundle>(*std::move(bundle)), {});
  const auto time = times.time({KernelKind::kProduct, KernelFormat::kHalf, {16, 4096, 4096}});
  if (time && !(time->seconds > 0)) std::abort();
  return 0;
}
