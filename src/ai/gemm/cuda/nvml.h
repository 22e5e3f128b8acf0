#pragma once
// What NVIDIA's management library says of a GPU: loaded at run time, by declarations of our own, so that it is needed
// neither for the build nor for the start.

#include <string>

#include "base/result.h"
#include "base/unknown.h"

namespace perfcast::ai::gemm {

// What the driver does not tell is NaN or empty.
struct GpuFacts {
  std::string name, driver;
  double memory_bytes = kUnknown;
  double clock_hz = kUnknown;  // of the multiprocessors, now
  double clock_limit_hz = kUnknown;
  double power_w = kUnknown;  // now
  double power_limit_w = kUnknown;
  double temperature_c = kUnknown;
};

// Of the first GPU on the PCI bus, which is the one that the rungs use where CUDA_VISIBLE_DEVICES names no other. Error
// "unavailable": there is no such library, or it finds no GPU.
Result<GpuFacts> read_gpu_facts(const std::string& library = "libnvidia-ml.so.1");

}  // namespace perfcast::ai::gemm
