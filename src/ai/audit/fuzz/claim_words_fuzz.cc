// Any bytes as a claim in words: no crash; what is accepted is a claim that the reader of files accepts or refuses.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "ai/audit/auditor.h"
#include "ai/audit/claims_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  DeviceFacts device;
  device.name = "NVIDIA H100 80GB HBM3";
  device.aliases = {"h100", "4090"};
  device.memory_bytes = 8e10;
  device.memory_bytes_per_s = 3.35e12;
  device.peak_flops[static_cast<size_t>(MathMode::kHalf)] = 9.9e14;
  const auto found = claims_in_words({std::string(reinterpret_cast<const char*>(data), size)}, {device}, {});
  const auto& claims = found.file.claims;
  if (claims.size() + found.unreadable.size() != 1) std::abort();
  if (claims.empty()) return 0;
  if (claims[0].numbers.empty() && claims[0].speedups.empty()) std::abort();
  (void)audit_claims(found.file, {device}, {});
  return 0;
}
