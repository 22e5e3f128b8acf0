#pragma once
// The roofline with fixed efficiencies: what is forecast where nothing was learned, and the baseline of what was.

#include <memory>

#include "base/result.h"
#include "workload/latency/model/operator_time.h"

namespace perfcast {

// Shares of the data sheet's figures that dense library kernels reach. On 80,000 products of published half-precision
// layers (A100, A40, H100), those bound by arithmetic reach 0.65 to 0.75 of the peak and those bound by memory 0.6 to
// 0.8 of the bandwidth; with these two constants the error of log time has a root mean square of 0.16 (A40), 0.19
// (A100) and 0.30 (H100), which roofline_model_test.cc checks.
inline constexpr double kRooflineCompute = 0.7;
inline constexpr double kRooflineMemory = 0.75;
inline constexpr double kRooflineLogError = 0.3;

class RooflineModel : public LatencyModel {
 public:
  // Needs the memory bandwidth and one peak: "bad-device" names what is missing.
  static Result<std::shared_ptr<const LatencyModel>> create(DeviceFacts device);

  const DeviceFacts& device() const override { return device_; }
  using LatencyModel::calibrated;
  bool calibrated(MathMode, double) const override { return false; }
  bool supports(MathMode mode) const override;
  // max(operations / (peak * kRooflineCompute), bytes / (bandwidth * kRooflineMemory), the shortest kernel).
  OperatorTime product(const ProductShape& shape, MathMode mode, double weight_bytes) const override;
  OperatorTime vector(const VectorShape& shape, double bytes_per_value) const override;
  double log_error(MathMode) const override { return kRooflineLogError; }

 private:
  explicit RooflineModel(DeviceFacts device);
  OperatorTime longest(double compute_s, double memory_s) const;

  DeviceFacts device_;
  double inverse_flops_[kMathModes];  // seconds per operation, efficiency included
  double inverse_bytes_;
  double shortest_s_, launch_s_;
};

// How often a vector operator passes over memory.
double passes_of(VectorKind kind);
// The shortest time of a kernel, and what its launch costs the host: GPUs and TPUs 2 and 5 microseconds, CPUs 1 and 0.
double shortest_kernel_s(DeviceKind kind);
double host_launch_s(DeviceKind kind);

}  // namespace perfcast
