#pragma once
// What NVIDIA's management library says of a GPU: loaded at run time, by declarations of our own, so that it is needed
// neither for the build nor for the start.

#include <limits>
#include <string>

#include "base/result.h"

namespace perfcast::gemm {

// What the driver does not tell is NaN or empty.
struct GpuFacts {
  std::string name, driver;
  double memory_bytes = std::numeric_limits<double>::quiet_NaN();
  double clock_hz = std::numeric_limits<double>::quiet_NaN();  // of the multiprocessors, now
  double clock_limit_hz = std::numeric_limits<double>::quiet_NaN();
  double power_w = std::numeric_limits<double>::quiet_NaN();  // now
  double power_limit_w = std::numeric_limits<double>::quiet_NaN();
  double temperature_c = std::numeric_limits<double>::quiet_NaN();
};

// Of the first GPU on the PCI bus, which is the one that the rungs use where CUDA_VISIBLE_DEVICES names no other. Error
// "unavailable": there is no such library, or it finds no GPU.
Result<GpuFacts> read_gpu_facts(const std::string& library = "libnvidia-ml.so.1");

}  // namespace perfcast::gemm
