#include "ai/llm_forecast/learned_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "ai/latency/model/calibration.h"
#include "ai/latency/model/kin.h"
#include "ai/llm_forecast/roofline_model.h"
#include "ai/llm_forecast/step_time.h"
#include "base/significant.h"
#include "base/text.h"

namespace perfcast::ai {
namespace {

// Standard deviations of log time, assumed where the bundles don't say: of models carried over to a device of the same
// vendor that was not measured and of another vendor's, of modes that were not measured; what is left after a few
// shapes were measured.
constexpr double kCarriedOver = 0.25, kOtherVendor = 0.35, kOtherMode = 0.3, kCalibrated = 0.15;
// What whole models in half precision err by, operators measured or carried over: the 90% quantile of the absolute log
// error of prompts over 1.645, on an H100 and an H200 that were measured by PyTorch (docs/llm.md). Operators alone
// promise half of it: measured one by one, they meet neither the board's power limit nor each other.
constexpr double kHalfStep = 0.19, kHalfStepCarriedOver = 0.26;
// Of products with fewer rows than any that models were fitted to: forecast from bandwidth alone.
constexpr double kFewRowsError = 0.3;
// Fitted products have more rows than the first; a product with as few as the second is a matrix times vectors, which
// libraries stream; between them both count.
constexpr double kLeastFittedRows = 64, kMostStreamedRows = 16;
constexpr double kStreamedCompute = 0.5;  // of the peak
// Where, by the log of the rows, the one form counts as much as the other: runs below calibrate the streamed form.
constexpr double kFewRows = 32;
// Runs of one kind that make a device calibrated; shorter ones are launches rather than products.
constexpr double kEnoughRuns = 4, kShortestRun_s = 20e-6;
constexpr double kShrinkage = 0.4;                 // runs that stand for a factor of 1
constexpr const char* kMeasuredVendor = "NVIDIA";  // of all devices whose products were measured
constexpr double kPackedBytes = 0.1;               // of a value: biases and scales beside the weights
constexpr double kSameFact = 0.02;                 // two statements of one fact

bool runs_on_gpu_models(const DeviceFacts& device) { return device.kind == DeviceKind::kGpu; }

// Whether both speak of one product: a device file may give another machine a known name.
bool same_facts(const DeviceFacts& a, const DeviceFacts& b, MathMode mode) {
  const auto same = [](double x, double y) { return !(x > 0) || !(y > 0) || std::abs(std::log(x / y)) <= kSameFact; };
  return same(a.memory_bytes_per_s, b.memory_bytes_per_s) && same(a.units, b.units) && same(a.l2_bytes, b.l2_bytes) &&
         same(a.peak(mode), b.peak(mode));
}

// Operations at the peak, operands and result moved once.
double bound_s(const DeviceFacts& device, const ProductShape& shape, MathMode mode, double weight_bytes) {
  const double flops = 2 * shape.batch * shape.m * shape.k * shape.n;
  const double bytes = weight_bytes + activation_bytes(mode) * shape.batch * (shape.m * shape.k + shape.m * shape.n);
  return std::max(flops / device.peak(mode), bytes / device.memory_bytes_per_s);
}

ProductShape shape_of(const CalibrationRun& run) {
  return {static_cast<double>(run.batch), static_cast<double>(run.m), static_cast<double>(run.k),
          static_cast<double>(run.n), run.kind == CalibrationRun::Kind::kLinear};
}

double right_bytes(const CalibrationRun& run) {
  const ProductShape shape = shape_of(run);
  return shape.batch * shape.k * shape.n * bytes_per_value(run.precision);
}

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

  void learn(const LearnedBundles& bundles, const std::vector<TimedKernel>& kernels) {
    if (!runs_on_gpu_models(device_)) return;
    if (bundles.kernels || !kernels.empty()) kernels_.emplace(device_, bundles.kernels, kernels);
    if (auto models = models_of(bundles.gpu, device_)) {
      fp32_ = *std::move(models);
      if (fp32_->vectors_measured && !same_facts(fp32_->models.device, device_, MathMode::kFp32)) {
        fp32_->models = carried_to(fp32_->models, device_, bundles.gpu.flops_per_joule_16nm);
        fp32_->products_measured = fp32_->vectors_measured = false;
      }
    }
    if (auto model = HalfPrecisionModel::for_device(device_, bundles.half)) {
      half_.emplace(*std::move(model));
      for (const HalfPrecisionDevice& kin : bundles.half.devices) {
        if (kin.facts.name != half_->kin()) continue;
        half_measured_ = half_->calibrated() && same_facts(kin.facts, device_, MathMode::kHalf);
        half_vendor_ = device_.vendor == kMeasuredVendor;
      }
    }
  }

  // Factors on products, by mode, from the runs of this device; fp32 tells products with weights from the others, and
  // of the former tall ones from those with few rows, which follow a law of their own.
  void calibrate(const std::vector<CalibrationRun>& runs) {
    std::vector<MeasuredProduct> tall;
    std::array<Runs, kMathModes> by_mode;
    Runs few_rows;
    for (const CalibrationRun& run : runs) {
      const MathMode mode = mode_of(run.precision);
      const ProductShape shape = shape_of(run);
      if (!supports(mode) || run.latency_s < kShortestRun_s) continue;
      Runs& into = by_mode[static_cast<size_t>(mode)];
      if (mode == MathMode::kFp32 && fp32_ && !has_few_rows(shape)) {
        tall.push_back({shape, run.latency_s});
        (shape.weights ? into.count : batched_fitted_) += 1;
      } else if (shape.weights) {
        const bool few = mode == MathMode::kFp32 && fp32_;
        (few ? few_rows : into).add(run.latency_s / product(shape, mode, right_bytes(run)).seconds);
      }
    }
    if (fp32_) perfcast::ai::calibrate(fp32_->models, tall);
    for (size_t mode = 0; mode < kMathModes; ++mode) {
      factors_[mode] = by_mode[mode].factor();
      fitted_[mode] = by_mode[mode].count;
    }
    few_rows_factor_ = few_rows.factor();
    few_rows_fitted_ = few_rows.count;
  }

  const DeviceFacts& device() const override { return device_; }

  bool calibrated(MathMode mode, double rows) const override {
    if (mode == MathMode::kFp32 && fp32_) {
      if (fp32_->products_measured) return true;
      return rows < kFewRows ? few_rows_fitted_ >= kEnoughRuns : enough_runs(mode);
    }
    if (enough_runs(mode)) return true;
    return mode == MathMode::kHalf && half_measured_;
  }

  bool supports(MathMode mode) const override { return roofline_->supports(mode); }

  OperatorTime product(const ProductShape& shape, MathMode mode, double weight_bytes) const override {
    OperatorTime time;
    if (mode == MathMode::kFp32 && fp32_) {
      time = fp32_product(shape, weight_bytes);
    } else if (mode != MathMode::kFp32 && half_ && half_->supports(mode)) {
      time = half_->product(shape, mode, weight_bytes);
    } else {
      time = roofline_->product(shape, mode, weight_bytes);
    }
    time.seconds *= factors_[static_cast<size_t>(mode)];
    if (const auto format = product_format(shape, mode, weight_bytes)) {
      const auto known = kernels_->time(product_kernel(shape.m, shape.n, shape.k, *format));
      if (known && counts_before_half(*known, *format)) take(known, time);
    }
    time.seconds = std::max(time.seconds, bound_s(device_, shape, mode, shape.weights ? weight_bytes : 0));
    return floored(time);
  }

  OperatorTime kernel(const KernelShape& shape) const override {
    OperatorTime time{kUnknown};
    if (!kernels_) return time;
    take(kernels_->time(shape), time);
    if (std::isnan(time.seconds)) return time;
    const MathMode mode =
        shape.kind == KernelKind::kExperts && shape.format != KernelFormat::kHalf ? MathMode::kFp8 : MathMode::kHalf;
    const double memory_s = kernel_bytes(shape) / device_.memory_bytes_per_s;
    const double compute_s = kernel_flops(shape) / device_.peak(mode);
    time.seconds = std::fmax(time.seconds, std::fmax(memory_s, compute_s));
    time.bound = compute_s > memory_s ? Bound::kCompute : Bound::kMemory;
    return floored(time);
  }

  OperatorTime vector(const VectorShape& shape, double bytes_per_value) const override {
    if (half_ && half_measured_) {
      OperatorTime time = half_->vector(shape, bytes_per_value);
      time.log_error = half_->vector_log_error();
      return floored(time);
    }
    if (fp32_) {
      OperatorTime time = fp32_->models.vector(shape, bytes_per_value);
      const double own = fp32_->vector_log_error(shape);
      time.log_error = own;
      return floored(time);
    }
    return roofline_->vector(shape, bytes_per_value);
  }

  double log_error(MathMode mode) const override {
    if (mode == MathMode::kFp32 && fp32_) {
      if (fp32_->products_measured) return std::max(fp32_->product_log_error(true), fp32_->product_log_error(false));
      return carried_log_error(true);
    }
    if (mode != MathMode::kFp32 && half_ && half_->supports(mode)) {
      const double own = half_->log_error(mode);
      if (mode == MathMode::kHalf && half_measured_) return own;
      if (enough_runs(mode)) return std::max(own, kCalibrated);
      if (!half_vendor_) return kOtherVendor;
      return mode == MathMode::kHalf ? std::max(own, kCarriedOver) : kOtherMode;
    }
    return enough_runs(mode) ? kCalibrated : roofline_->log_error(mode);
  }

  double step_log_error(MathMode mode) const override {
    if (mode == MathMode::kHalf && half_) return half_measured_ ? kHalfStep : kHalfStepCarriedOver;
    if (mode != MathMode::kFp32 || !fp32_ || fp32_->products_measured) return kUnknown;
    return (enough_runs(mode) ? fp32_->calibrated : fp32_->carried).whole_model;
  }

  double all_reduce_seconds(double bytes, int64_t workers) const override {
    if (!half_ || !half_measured_ || !(device_.link_bytes_per_s > 0)) return kUnknown;
    return half_->all_reduce_seconds(bytes, static_cast<int>(workers));
  }

 private:
  // Ratios of measured to forecast times.
  struct Runs {
    double sum = 0, count = 0;

    void add(double ratio) {
      sum += std::log(ratio);
      count += 1;
    }
    double factor() const { return std::exp(sum / (count + kShrinkage)); }
  };

  // What a database of kernels would call this product; none where nobody can have measured it.
  std::optional<KernelFormat> product_format(const ProductShape& shape, MathMode mode, double weight_bytes) const {
    if (!kernels_ || !shape.weights || shape.batch != 1) return std::nullopt;
    const double bytes = weight_bytes / (shape.k * shape.n);
    if (mode == MathMode::kHalf && std::abs(bytes - 2) < kPackedBytes) return KernelFormat::kHalf;
    if (mode == MathMode::kFp8 && std::abs(bytes - 1) < kPackedBytes) return KernelFormat::kFp8;
    return std::nullopt;
  }

  // What the user measured; else in half precision the models of half precision where they know the device or nobody
  // does: on an H100 and an H200 they are nearer to whole prompts, 20% and 33% off against 26% and 37%.
  bool counts_before_half(const KernelTime& known, KernelFormat format) const {
    if (kernels_->has_timed(KernelKind::kProduct, format)) return true;
    return format != KernelFormat::kHalf || (known.measured && !half_measured_);
  }

  static void take(const std::optional<KernelTime>& known, OperatorTime& time) {
    if (!known) return;
    time.seconds = known->seconds;
    time.log_error = known->log_sd;
    time.measured = known->measured;
  }

  static bool has_few_rows(const ProductShape& shape) { return shape.weights && shape.m < kFewRows; }
  bool enough_runs(MathMode mode) const { return fitted_[static_cast<size_t>(mode)] >= kEnoughRuns; }

  // Of fp32 products by models of the device's kin.
  double carried_log_error(bool weights) const {
    const double own = (weights ? fp32_->models.linear : fp32_->models.batched).log_error;
    if (weights ? enough_runs(MathMode::kFp32) : batched_fitted_ >= kEnoughRuns) {
      const double left_out = fp32_->calibrated.product(weights);
      return std::isfinite(left_out) ? left_out : std::hypot(own, kCalibrated);
    }
    const double carried = fp32_->product_log_error(weights);
    return device_.vendor == kMeasuredVendor ? carried : std::max(carried, std::hypot(own, kOtherVendor));
  }

  // Products with few rows stream their weights; the models' tiles were fitted to taller ones, of fp32 weights.
  OperatorTime fp32_product(const ProductShape& shape, double weight_bytes) const {
    OperatorTime tiles = fp32_->models.product(shape);
    if (!fp32_->products_measured) tiles.log_error = carried_log_error(shape.weights);
    if (!shape.weights || shape.m >= kLeastFittedRows) return tiles;
    const double values = shape.batch * shape.m * (shape.k + shape.n);
    const double stream_rate = fp32_->models.vectors.unary[VectorTerm::kStreamRate];
    const double memory_s = (weight_bytes + 4 * values) / (device_.memory_bytes_per_s * std::min(stream_rate, 1.0));
    const double compute_s =
        2 * shape.batch * shape.m * shape.k * shape.n / (device_.peak(MathMode::kFp32) * kStreamedCompute);
    OperatorTime streamed = tiles;
    const bool slower = std::max(memory_s, compute_s) > tiles.seconds;
    streamed.seconds = std::max(memory_s, compute_s) * few_rows_factor_;
    streamed.bound = memory_s >= compute_s ? Bound::kMemory : Bound::kCompute;
    streamed.log_error = few_rows_fitted_ >= kEnoughRuns ? kCalibrated : kFewRowsError;
    if (shape.m <= kMostStreamedRows || slower) return streamed;
    const double tall = std::log(shape.m / kMostStreamedRows) / std::log(kLeastFittedRows / kMostStreamedRows);
    streamed.seconds *= std::pow(tiles.seconds / streamed.seconds, tall);
    return streamed;
  }

  // The launch is the host's; the fitted one holds what measuring a single operator adds.
  OperatorTime floored(OperatorTime time) const {
    time.launch_seconds = launch_s_;
    if (time.seconds < shortest_s_) {
      time.seconds = shortest_s_;
      time.bound = Bound::kStart;
    }
    return time;
  }

  DeviceFacts device_;
  std::shared_ptr<const LatencyModel> roofline_;
  double shortest_s_, launch_s_;
  std::optional<DeviceModels> fp32_;
  std::optional<HalfPrecisionModel> half_;
  std::optional<KernelTimes> kernels_;
  bool half_measured_ = false, half_vendor_ = false;     // this device; a device of its vendor
  std::array<double, kMathModes> factors_{}, fitted_{};  // by mode; fp32's counts tall products alone
  double batched_fitted_ = 0;                            // of fp32 products without weights
  double few_rows_factor_ = 1, few_rows_fitted_ = 0;     // of fp32 products that stream their weights
};

}  // namespace

Result<std::shared_ptr<const LatencyModel>> learned_model(const DeviceFacts& device, const LearnedBundles& bundles,
                                                          const std::vector<CalibrationRun>& runs,
                                                          const std::vector<TimedKernel>& kernels) {
  auto roofline = RooflineModel::create(device);
  if (!roofline) return roofline.error();
  auto model = std::make_shared<LearnedModel>(device, *std::move(roofline));
  model->learn(bundles, kernels);
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
  const auto kernels = kernels_.find((*device)->name);
  return learned_model(**device, bundles_, own,
                       kernels == kernels_.end() ? std::vector<TimedKernel>() : kernels->second);
}

std::vector<std::string> LearnedDevices::names() const {
  std::vector<std::string> names;
  names.reserve(catalogue_.devices.size());
  for (const DeviceFacts& device : catalogue_.devices) names.push_back(device.name);
  return names;
}

// A run may beat a stated boost clock a little; one that takes this much longer was measured in another unit.
constexpr double kTrust = 0.9, kFarOff = 300;

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
    const double least = bound_s(**device, shape_of(run), mode_of(run.precision),
                                 run.kind == CalibrationRun::Kind::kLinear ? right_bytes(run) : 0);
    if (run.latency_s < kTrust * least) {
      return Error{"bad-calibration",
                   fmt::format("{} s is less than the {} s that the peak and the bandwidth of {} allow",
                               significant(run.latency_s, 4), significant(least, 4), (*device)->name),
                   fmt::format("line {}", run.line), "a measured time in seconds, of that device"};
    }
    if (run.latency_s > kFarOff * std::max(least, kShortestRun_s)) {
      return Error{"bad-calibration",
                   fmt::format("{} s is {:.0f} times as long as the peak and the bandwidth of {} allow",
                               significant(run.latency_s, 4), run.latency_s / least, (*device)->name),
                   fmt::format("line {}", run.line), "seconds, not milliseconds; the device's own library"};
    }
  }
  runs_.insert(runs_.end(), runs.begin(), runs.end());
  return {};
}

// A kernel that is timed again and again may have its operands in the last cache, at this many times the bandwidth.
constexpr double kCacheOverMemory = 20, kMostLaunches_s = 1e-4;
constexpr double kMostRuledOut = 0.5;  // of the times of a device and operator: another unit

Status LearnedDevices::calibrate_kernels(KernelDatabase& database) {
  std::vector<const DeviceFacts*> devices;
  for (const std::string& system : database.systems) {
    const auto device = find_device(catalogue_, system);
    devices.push_back(device ? *device : nullptr);
  }
  const auto bound = [](const DeviceFacts& device, const KernelShape& shape) {
    const bool narrow = shape.format != KernelFormat::kHalf &&
                        (shape.kind == KernelKind::kProduct || shape.kind == KernelKind::kExperts);
    const double half = device.peak(MathMode::kHalf), fp8 = device.peak(MathMode::kFp8);
    const double peak = !narrow ? half : shape.format == KernelFormat::kFp4 ? 4 * half : fp8 > 0 ? fp8 : 2 * half;
    return std::fmax(kernel_flops(shape) / peak, kernel_bytes(shape) / device.memory_bytes_per_s / kCacheOverMemory);
  };
  struct Count {
    int64_t all = 0, ruled_out = 0;
  };
  std::map<std::pair<uint32_t, KernelKind>, Count> counts;
  std::map<std::string, std::vector<TimedKernel>> taken;
  for (const MeasuredKernel& kernel : database.kernels) {
    const DeviceFacts* device = devices[kernel.system];
    if (device == nullptr) {
      database.leave_out("'" + printable(database.systems[kernel.system].substr(0, 60)) +
                             "' is no device that is known here (--device-file: yours, with this name or alias)",
                         1, "");
      continue;
    }
    Count& count = counts[{kernel.system, kernel.shape.kind}];
    ++count.all;
    const double least = bound(*device, kernel.shape);
    const bool fast = kernel.seconds < kTrust * least;
    if (fast || kernel.seconds > kFarOff * std::fmax(kCacheOverMemory * least, kMostLaunches_s)) {
      ++count.ruled_out;
      database.leave_out(fmt::format("a time that the facts of {} rule out: too {}", device->name,
                                     fast ? "short for its peak" : "long for its peak and bandwidth"),
                         1, "");
      continue;
    }
    taken[device->name].push_back({kernel.shape, kernel.seconds});
  }
  for (const auto& [key, count] : counts) {
    if (static_cast<double>(count.ruled_out) < kMostRuledOut * static_cast<double>(count.all)) continue;
    return Error{"bad-calibration",
                 fmt::format("{} of {} times of {} don't go with the peak and the bandwidth of {}", count.ruled_out,
                             count.all, name_of(key.second), devices[key.first]->name),
                 database.systems[key.first], "latency in ms; latency_us or latency_s where it is in these"};
  }
  if (taken.empty()) {
    return Error{"no-kernels", "no system of the database is a device that is known here",
                 join(database.systems, ", ").substr(0, 200), "a device of --list-devices, or one of --device-file"};
  }
  for (auto& [device, kernels] : taken) {
    auto& all = kernels_[device];
    all.insert(all.end(), kernels.begin(), kernels.end());
  }
  return {};
}

}  // namespace perfcast::ai
