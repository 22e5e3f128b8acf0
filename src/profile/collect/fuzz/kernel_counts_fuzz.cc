// Any bytes in the place of the Oclgrind plugin's counts: no crash; what is accepted adds up with itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profile/collect/oclgrind/kernel_counts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  const auto counts = parse_kernel_counts({reinterpret_cast<const char*>(data), size}, "input");
  if (!counts) return 0;
  KernelCounts sum = *counts;
  join(sum, *counts);
  if (sum.kernels.size() > counts->kernels.size()) std::abort();
  for (const auto& [name, value] : run_metrics(sum)) {
    if (value < 0) std::abort();
  }
  return 0;
}
