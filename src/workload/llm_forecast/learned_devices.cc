#include "workload/llm_forecast/learned_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "workload/latency/kin.h"
#include "workload/llm_forecast/roofline_model.h"

namespace perfcast {
namespace {

// Standard deviations of log time: of models carried over to a device that was never measured, and what is left of it
// after a few shapes were measured there (NeuSight's L4 and A100 80 GB, docs/LLM.md).
constexpr double kCarriedOver = 0.25, kCalibrated = 0.15;

MathMode mode_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return MathMode::kFp32;
    case Precision::kTf32:
      return MathMode::kTf32;
    case Precision::kFp8:
      return MathMode::kFp8;
    case Precision::kInt8:
      return MathMode::kInt8;
    default:
      return MathMode::kHalf;
  }
}

bool runs_on_gpu_models(const DeviceFacts& device) { return device.kind == DeviceKind::kGpu; }

class LearnedModel : public LatencyModel {
 public:
  LearnedModel(DeviceFacts device, std::shared_ptr<const LatencyModel> roofline)
      : device_(std::move(device)),
        roofline_(std::move(roofline)),
        shortest_s_(shortest_kernel_s(device_.kind)),
        launch_s_(host_launch_s(device_.kind)) {
    factors_.fill(1);
    fitted_.fill(0);
  }

  void learn(const LearnedBundles& bundles) {
    if (!runs_on_gpu_models(device_)) return;
    if (auto models = models_of(bundles.gpu, device_)) fp32_ = *std::move(models);
    if (auto model = HalfPrecisionModel::for_device(device_, bundles.half)) half_.emplace(*std::move(model));
  }

  // Factors on products, by mode, from the runs of this device; fp32 tells products with weights from the others.
  void calibrate(const std::vector<CalibrationRun>& runs) {
    std::vector<NeusightProduct> fp32;
    std::array<double, kMathModes> sums{}, counts{};
    for (const CalibrationRun& run : runs) {
      const MathMode mode = mode_of(run.precision);
      const ProductShape shape{static_cast<double>(run.batch), static_cast<double>(run.m), static_cast<double>(run.k),
                               static_cast<double>(run.n), run.kind == CalibrationRun::Kind::kLinear};
      const auto at = static_cast<size_t>(mode);
      counts[at] += 1;
      if (mode == MathMode::kFp32 && fp32_) {
        NeusightProduct measured;
        measured.shape = shape;
        measured.seconds = run.latency_s;
        fp32.push_back(std::move(measured));
        continue;
      }
      if (!supports(mode)) continue;
      const double values = shape.k * shape.n * shape.batch;
      const double forecast = product(shape, mode, values * bytes_per_value(run.precision)).seconds;
      sums[at] += std::log(run.latency_s / forecast);
    }
    if (fp32_) perfcast::calibrate(fp32_->models, fp32);
    for (size_t mode = 0; mode < kMathModes; ++mode) {
      if (counts[mode] == 0) continue;
      factors_[mode] = std::exp(sums[mode] / (counts[mode] + kShrinkage));
      fitted_[mode] = counts[mode];
    }
  }

  const DeviceFacts& device() const override { return device_; }

  bool calibrated(MathMode mode) const override {
    if (fitted_[static_cast<size_t>(mode)] > 0) return true;
    if (mode == MathMode::kFp32) return fp32_ && fp32_->products_measured;
    return half_ && half_->supports(mode) && half_->calibrated(mode);
  }

  bool supports(MathMode mode) const override { return roofline_->supports(mode); }

  OperatorTime product(const ProductShape& shape, MathMode mode, double weight_bytes) const override {
    const double factor = factors_[static_cast<size_t>(mode)];
    OperatorTime time;
    if (mode == MathMode::kFp32 && fp32_) {
      time = fp32_->models.product(shape);
    } else if (mode != MathMode::kFp32 && half_ && half_->supports(mode)) {
      time = half_->product(shape, mode, weight_bytes);
    } else {
      time = roofline_->product(shape, mode, weight_bytes);
    }
    time.seconds *= factor;
    return floored(time);
  }

  OperatorTime vector(const VectorShape& shape, double bytes_per_value) const override {
    if (half_ && half_->calibrated()) return floored(half_->vector(shape, bytes_per_value));
    if (fp32_) return floored(fp32_->models.vector(shape, bytes_per_value));
    return roofline_->vector(shape, bytes_per_value);
  }

  double log_error(MathMode mode) const override {
    const double measured = fitted_[static_cast<size_t>(mode)];
    if (mode == MathMode::kFp32 && fp32_) {
      const double own = fp32_->models.linear.log_error;
      if (fp32_->products_measured) return own;
      return std::hypot(own, measured > 0 ? kCalibrated : kCarriedOver);
    }
    if (mode != MathMode::kFp32 && half_ && half_->supports(mode)) {
      const double own = half_->log_error(mode);
      return measured > 0 ? std::min(own, kCalibrated) : own;
    }
    return measured > 0 ? kCalibrated : roofline_->log_error(mode);
  }

 private:
  static constexpr double kShrinkage = 0.4;  // runs that stand for a factor of 1

  // The launch is the host's; the fitted one holds what measuring a single operator adds.
  OperatorTime floored(OperatorTime time) const {
    time.launch_seconds = launch_s_;
    if (time.seconds < shortest_s_) {
      time.seconds = shortest_s_;
      time.bound = Bound::kLaunch;
    }
    return time;
  }

  DeviceFacts device_;
  std::shared_ptr<const LatencyModel> roofline_;
  double shortest_s_, launch_s_;
  std::optional<DeviceModels> fp32_;
  std::optional<HalfPrecisionModel> half_;
  std::array<double, kMathModes> factors_{}, fitted_{};
};

}  // namespace

Result<std::shared_ptr<const LatencyModel>> learned_model(const DeviceFacts& device, const LearnedBundles& bundles,
                                                          const std::vector<CalibrationRun>& runs) {
  auto roofline = RooflineModel::create(device);
  if (!roofline) return roofline.error();
  auto model = std::make_shared<LearnedModel>(device, *std::move(roofline));
  model->learn(bundles);
  model->calibrate(runs);
  return std::shared_ptr<const LatencyModel>(std::move(model));
}

Result<std::shared_ptr<const LatencyModel>> LearnedDevices::find(std::string_view name) const {
  const auto device = find_device(catalogue_, name);
  if (!device) return device.error();
  std::vector<CalibrationRun> own;
  std::copy_if(runs_.begin(), runs_.end(), std::back_inserter(own), [&](const CalibrationRun& run) {
    const auto of_run = find_device(catalogue_, run.device);
    return of_run && *of_run == *device;
  });
  return learned_model(**device, bundles_, own);
}

std::vector<std::string> LearnedDevices::names() const {
  std::vector<std::string> names;
  names.reserve(catalogue_.devices.size());
  for (const DeviceFacts& device : catalogue_.devices) names.push_back(device.name);
  return names;
}

Status LearnedDevices::calibrate(const std::vector<CalibrationRun>& runs) {
  for (const CalibrationRun& run : runs) {
    const auto device = find_device(catalogue_, run.device);
    if (!device) {
      Error error = device.error();
      error.where = fmt::format("line {}", run.line);
      return error;
    }
    if (!((*device)->peak(mode_of(run.precision)) > 0)) {
      return Error{"no-calibration", fmt::format("{} has no peak for {}", (*device)->name, info(run.precision).name),
                   fmt::format("line {}", run.line), "a precision that the device computes in"};
    }
  }
  runs_.insert(runs_.end(), runs.begin(), runs.end());
  return {};
}

}  // namespace perfcast
