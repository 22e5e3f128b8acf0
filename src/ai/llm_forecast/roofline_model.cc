#include "ai/llm_forecast/roofline_model.h"

#include <algorithm>
#include <cmath>

namespace perfcast::ai {

double passes_of(VectorKind kind) { return kind == VectorKind::kBinary ? 3 : 2; }

double host_launch_s(DeviceKind kind) { return kind == DeviceKind::kCpu ? 0 : 5e-6; }

Result<std::shared_ptr<const LatencyModel>> RooflineModel::create(DeviceFacts device) {
  const auto is_rate = [](double value) { return std::isfinite(value) && value > 0; };
  if (!is_rate(device.memory_bytes_per_s)) {
    return Error{"bad-device", "the memory bandwidth of " + device.name + " is not known", device.name,
                 "memory_bytes_per_s above 0"};
  }
  if (std::none_of(std::begin(device.peak_flops), std::end(device.peak_flops), is_rate)) {
    return Error{"bad-device", "no peak of " + device.name + " is known", device.name,
                 "the peak FLOP/s of one precision at the least"};
  }
  return std::shared_ptr<const LatencyModel>(new RooflineModel(std::move(device)));
}

RooflineModel::RooflineModel(DeviceFacts device)
    : device_(std::move(device)),
      inverse_bytes_(1 / (device_.memory_bytes_per_s * kRooflineMemory)),
      shortest_s_(shortest_kernel_s(device_.kind)),
      launch_s_(host_launch_s(device_.kind)) {
  for (size_t i = 0; i < kMathModes; ++i) inverse_flops_[i] = 1 / (device_.peak_flops[i] * kRooflineCompute);
}

bool RooflineModel::supports(MathMode mode) const { return device_.peak(mode) > 0; }

OperatorTime RooflineModel::longest(double compute_s, double memory_s) const {
  OperatorTime time;
  time.launch_seconds = launch_s_;
  time.seconds = std::max({compute_s, memory_s, shortest_s_});
  time.bound = time.seconds == shortest_s_ ? Bound::kStart : compute_s >= memory_s ? Bound::kCompute : Bound::kMemory;
  return time;
}

OperatorTime RooflineModel::product(const ProductShape& shape, MathMode mode, double weight_bytes) const {
  const double flops = 2 * shape.batch * shape.m * shape.k * shape.n;
  const double values = shape.batch * (shape.m * shape.k + shape.m * shape.n);
  return longest(flops * inverse_flops_[static_cast<size_t>(mode)],
                 (values * activation_bytes(mode) + weight_bytes) * inverse_bytes_);
}

OperatorTime RooflineModel::vector(const VectorShape& shape, double bytes_per_value) const {
  return longest(0, shape.rows * shape.columns * passes_of(shape.kind) * bytes_per_value * inverse_bytes_);
}

}  // namespace perfcast::ai
