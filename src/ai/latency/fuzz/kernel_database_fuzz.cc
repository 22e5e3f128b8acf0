// Any table: no crash; what is read has sizes and times above 0, each shape of a system once; and times come back at
// measured shapes.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "ai/latency/kernels/kernel_database.h"
#include "ai/latency/kernels/kernel_times.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace perfcast;
  using namespace perfcast::ai;
  const auto database = parse_kernel_table({reinterpret_cast<const char*>(data), size}, "gemm.csv");
  if (!database) return 0;
  std::vector<TimedKernel> timed;
  const MeasuredKernel* before = nullptr;
  for (const MeasuredKernel& kernel : database->kernels) {
    if (!(kernel.seconds > 0 && kernel.seconds <= 3600) || !(kernel.shape.size[0] >= 1)) std::abort();
    if (kernel.system >= database->systems.size() || kernel.library >= database->libraries.size()) std::abort();
    if (before != nullptr && before->system == kernel.system && before->shape == kernel.shape) std::abort();
    before = &kernel;
    if (kernel.system == 0) timed.push_back({kernel.shape, kernel.seconds});
  }
  const KernelTimes times(DeviceFacts(), nullptr, timed);
  for (const TimedKernel& kernel : timed) {
    const auto time = times.time(kernel.shape);
    if (!time || !time->measured || !(time->seconds > 0)) std::abort();
  }
  return 0;
}
