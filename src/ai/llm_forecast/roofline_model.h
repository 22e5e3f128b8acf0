#pragma once
// The roofline with fixed efficiencies: what is forecast where nothing was learned, and the baseline of what was.

#include <memory>

#include "ai/latency/model/operator_time.h"
#include "ai/latency/model/roofline_shares.h"
#include "base/result.h"

namespace perfcast::ai {

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
// What a launch costs the host: GPUs and TPUs 5 microseconds, CPUs none.
double host_launch_s(DeviceKind kind);

}  // namespace perfcast::ai
