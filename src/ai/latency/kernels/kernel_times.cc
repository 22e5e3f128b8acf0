#include "ai/latency/kernels/kernel_times.h"

#include <algorithm>
#include <cmath>

#include "learn/algebra/dense.h"

namespace perfcast::ai {
namespace {

// Where no bundle says it: what interpolations between measured shapes err by, and beyond the outermost ones for each
// factor of e.
constexpr double kShapeLogSd = 0.06, kOutsideLogSd = 0.1;
// Further out a time isn't a measured one any more; without a form beside it nothing is said of it.
constexpr double kMostOutside = 1.4, kMostOutsideAlone = 0.7;  // logs: four times, twice
constexpr double kOwnNoise = 0.05;  // share of the residuals' variance that is of one measurement alone

size_t place(KernelKind kind) { return static_cast<size_t>(kind); }
size_t place(KernelFormat format) { return static_cast<size_t>(format); }

}  // namespace

double kernel_correlation(const KernelSpread& spread, const KernelDevice& a, const KernelDevice& b) {
  if (a.self_feeding != b.self_feeding) return spread.other;
  return a.generation == b.generation ? spread.same_generation : spread.same_class;
}

KrigingWeights kriging_weights(const KernelSpread& spread, const KernelDevice& device,
                               std::span<const KernelDevice* const> donors) {
  const auto n = static_cast<Eigen::Index>(donors.size());
  KrigingWeights result;
  if (n == 0) return result;
  Eigen::MatrixXd among(n, n);
  Eigen::VectorXd with(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    with(i) = kernel_correlation(spread, device, *donors[static_cast<size_t>(i)]);
    for (Eigen::Index j = 0; j < n; ++j) {
      among(i, j) = i == j
                        ? 1 + kOwnNoise
                        : kernel_correlation(spread, *donors[static_cast<size_t>(i)], *donors[static_cast<size_t>(j)]);
    }
  }
  const Eigen::VectorXd weights = solve_semidefinite(among, with);
  result.weights.assign(weights.data(), weights.data() + n);
  result.left = std::clamp(1 - weights.dot(with), 0.0, 1.0);
  return result;
}

KernelTimes::KernelTimes(const DeviceFacts& facts, std::shared_ptr<const KernelBundle> bundle,
                         std::span<const TimedKernel> timed)
    : device_(KernelDevice::of(facts)), bundle_(std::move(bundle)) {
  for (size_t kind = 0; kind < kKernelKinds; ++kind) {
    for (size_t format = 0; format < kKernelFormats; ++format) {
      const auto of_kind = static_cast<KernelKind>(kind);
      const auto of_format = static_cast<KernelFormat>(format);
      const bool known = bundle_ && bundle_->entry(of_kind, of_format).known;
      constants_[kind][format] = known ? bundle_->entry(of_kind, of_format).constants : usual_kernel_constants(of_kind);
      if (known && device_) weights_[kind][format] = weigh(of_kind, of_format, facts);
    }
  }
  for (const TimedKernel& kernel : timed) {
    own_.add(kernel.shape, std::log(kernel.seconds / form(kernel.shape, Operands::kRepeated)));
  }
  own_.finish();
}

// 1 s where the device's facts don't reach for a form: logs of times are interpolated then.
double KernelTimes::form(const KernelShape& shape, Operands operands) const {
  if (!device_) return 1;
  const double seconds = kernel_seconds(constants_[place(shape.kind)][place(shape.format)], *device_, shape, operands);
  return seconds > 0 ? seconds : 1;
}

KernelTimes::Weights KernelTimes::weigh(KernelKind kind, KernelFormat format, const DeviceFacts& facts) const {
  const KernelSpread& spread = bundle_->entry(kind, format).spread;
  Weights result;
  std::vector<const KernelDevice*> devices;
  for (const KernelDonor& donor : bundle_->donors) {
    if (!donor.residuals.covers(kind, format)) continue;
    if (donor.name == facts.name) {
      result.donors = {{&donor.residuals, 1.0}};
      result.log_sd = std::isnan(spread.shape_log_sd) ? kShapeLogSd : spread.shape_log_sd;
      result.measured = true;
      return result;
    }
    devices.push_back(&donor.device);
    result.donors.emplace_back(&donor.residuals, 0.0);
  }
  const KrigingWeights kriging = kriging_weights(spread, *device_, devices);
  for (size_t i = 0; i < devices.size(); ++i) result.donors[i].second = kriging.weights[i];
  result.log_sd = spread.log_sd * std::sqrt(kriging.left);
  if (!std::isnan(spread.interval_ratio)) result.log_sd *= spread.interval_ratio;
  return result;
}

std::optional<KernelTime> KernelTimes::time(const KernelShape& shape, Operands operands) const {
  const double known_sd = bundle_ ? bundle_->entry(shape.kind, shape.format).spread.shape_log_sd : kUnknown;
  const double shape_sd = std::isnan(known_sd) ? kShapeLogSd : known_sd;
  if (const auto found = own_.find(shape); found && (device_ || found->outside <= kMostOutsideAlone)) {
    return KernelTime{form(shape, operands) * std::exp(found->log_ratio), shape_sd + kOutsideLogSd * found->outside,
                      found->outside <= kMostOutside};
  }
  if (const auto alike = device_ ? own_.find_alike(shape) : std::nullopt) {
    return KernelTime{form(shape, operands) * std::exp(alike->log_ratio), shape_sd + kOutsideLogSd * alike->outside,
                      false};
  }
  if (!device_ || !bundle_ || !bundle_->entry(shape.kind, shape.format).known) return std::nullopt;
  const Weights& weights = weights_[place(shape.kind)][place(shape.format)];
  KernelTime time;
  time.log_sd = weights.log_sd;
  double log_ratio = 0;
  for (const auto& [residuals, weight] : weights.donors) {
    const auto exact = residuals->find(shape);
    const auto found = exact ? exact : residuals->find_alike(shape);
    if (!found) continue;
    log_ratio += weight * found->log_ratio;
    time.measured = weights.measured && exact && exact->outside <= kMostOutside;
    if (weights.measured) time.log_sd += kOutsideLogSd * found->outside;
  }
  time.seconds = kernel_seconds(constants_[place(shape.kind)][place(shape.format)], *device_, shape, operands) *
                 std::exp(log_ratio);
  if (!std::isfinite(time.seconds) || !(time.seconds > 0)) return std::nullopt;
  return time;
}

}  // namespace perfcast::ai
