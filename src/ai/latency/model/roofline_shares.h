#pragma once
// The roofline with fixed efficiencies: two constants for all devices, and the shortest time of a kernel.

#include "machine/facts/device_facts.h"

namespace perfcast::ai {

// Shares of the data sheet's figures that dense library kernels reach. On 80,000 products of published half-precision
// layers (A100, A40, H100), those bound by arithmetic reach 0.65 to 0.75 of the peak and those bound by memory 0.6 to
// 0.8 of the bandwidth; with these two constants the error of log time has a root mean square of 0.16 (A40), 0.19
// (A100) and 0.30 (H100), which the test of ai/llm_forecast/roofline_model.h checks.
inline constexpr double kRooflineCompute = 0.7;
inline constexpr double kRooflineMemory = 0.75;

// GPUs and TPUs 2 microseconds, CPUs 1.
inline double shortest_kernel_s(DeviceKind kind) { return kind == DeviceKind::kCpu ? 1e-6 : 2e-6; }

}  // namespace perfcast::ai
