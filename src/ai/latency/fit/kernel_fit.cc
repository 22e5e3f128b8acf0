#include "ai/latency/fit/kernel_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "ai/latency/fit/bounded_least_squares.h"
#include "learn/linear/nnls.h"

namespace perfcast::ai {
namespace {

constexpr double kSoftLogs = 0.15, kSoftRelative = 0.25;
constexpr double kPriorWeight = 0.7;  // of a constant's log, about what it is without a fit
constexpr double kMostLogChange = 3;
constexpr int kReweightings = 8, kMostProductSteps = 60;
constexpr double kRidge = 1e-9;
constexpr double kMostCorrelation = 0.95;

// Constants that are shares of what data sheets promise, in products' forms.
constexpr size_t kComputeShare = 2, kMemoryShare = 3, kCacheGain = 7;  // the cache is no slower than the memory

// What constants are at the least: bytes that come from memory take the bandwidth.
KernelConstants least_constants(KernelKind kind) {
  KernelConstants least{};
  if (kind == KernelKind::kDecode) least[1] = 1;
  if (kind == KernelKind::kExperts) least[3] = 1;
  return least;
}

Result<KernelConstants> fit_products(std::span<const KernelFitDevice* const> devices,
                                     const std::vector<double>& weights) {
  const size_t constants = kernel_constant_names(KernelKind::kProduct).size();
  const KernelConstants prior = usual_kernel_constants(KernelKind::kProduct);
  const auto size = static_cast<Eigen::Index>(constants);
  Eigen::VectorXd start(size), lower(size), upper(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    start(i) = std::log(prior[static_cast<size_t>(i)]);
    lower(i) = start(i) - kMostLogChange;
    upper(i) = start(i) + kMostLogChange;
  }
  upper(kComputeShare) = upper(kMemoryShare) = 0;
  lower(kCacheGain) = 0;
  Eigen::Index residuals = size;
  for (const KernelFitDevice* device : devices) residuals += static_cast<Eigen::Index>(device->samples.size());
  const ResidualFunction function = [&](const Eigen::VectorXd& logs, Eigen::Ref<Eigen::VectorXd> out) {
    KernelConstants at{};
    for (Eigen::Index i = 0; i < size; ++i) at[static_cast<size_t>(i)] = std::exp(logs(i));
    Eigen::Index next = 0;
    for (size_t d = 0; d < devices.size(); ++d) {
      for (const KernelSample& sample : devices[d]->samples) {
        const double seconds = kernel_seconds(at, devices[d]->device, sample.shape, Operands::kRepeated);
        out(next++) = weights[d] * std::log(seconds / sample.seconds);
      }
    }
    for (Eigen::Index i = 0; i < size; ++i) out(next++) = kPriorWeight * (logs(i) - start(i));
  };
  BoundedFitOptions options;
  options.soft_scale = kSoftLogs;
  options.max_iterations = kMostProductSteps;
  options.tolerance = 1e-5;
  const auto fit = fit_bounded(function, residuals, start, lower, upper, options);
  if (!fit) return fit.error();
  KernelConstants result{};
  for (Eigen::Index i = 0; i < size; ++i) result[static_cast<size_t>(i)] = std::exp(fit->parameters(i));
  return result;
}

// Non-negative, of relative errors that are made even: (p - 1) weighs as log p does, less where it is far off.
Result<KernelConstants> fit_columns(KernelKind kind, std::span<const KernelFitDevice* const> devices,
                                    const std::vector<double>& device_weights) {
  const auto size = static_cast<Eigen::Index>(kernel_constant_names(kind).size());
  const KernelConstants least = least_constants(kind);
  std::vector<double> weights;
  for (size_t d = 0; d < devices.size(); ++d)
    weights.insert(weights.end(), devices[d]->samples.size(), device_weights[d]);
  const auto rows = static_cast<Eigen::Index>(weights.size());
  Eigen::MatrixXd columns(rows, size);
  Eigen::VectorXd target(rows);
  Eigen::Index row = 0;
  for (const KernelFitDevice* device : devices) {
    for (const KernelSample& sample : device->samples) {
      const KernelConstants of = kernel_columns(device->device, sample.shape, Operands::kRepeated);
      double held = 0;
      for (Eigen::Index i = 0; i < size; ++i) {
        columns(row, i) = of[static_cast<size_t>(i)] / sample.seconds;
        held += columns(row, i) * least[static_cast<size_t>(i)];
      }
      target(row++) = 1 - held;
    }
  }
  Eigen::VectorXd scale(size);
  for (Eigen::Index i = 0; i < size; ++i) scale(i) = std::max(columns.col(i).norm(), 1e-30);
  columns.array().rowwise() /= scale.transpose().array();
  Eigen::VectorXd own = Eigen::Map<const Eigen::VectorXd>(weights.data(), rows);
  Eigen::VectorXd found = Eigen::VectorXd::Zero(size);
  for (int round = 0; round < kReweightings; ++round) {
    const Eigen::MatrixXd weighted = own.asDiagonal() * columns;
    Eigen::MatrixXd gram = weighted.transpose() * weighted;
    gram.diagonal().array() += kRidge * gram.trace();
    found = nonnegative_least_squares(gram, weighted.transpose() * own.cwiseProduct(target));
    const Eigen::VectorXd fitted = columns * found;
    for (Eigen::Index i = 0; i < rows; ++i) {
      const double ratio = std::max(fitted(i) + 1 - target(i), 0.02), log_ratio = std::log(ratio);
      const double even = std::abs(ratio - 1) > 1e-6 ? std::abs(log_ratio) / std::abs(ratio - 1) : 1;
      own(i) = weights[static_cast<size_t>(i)] * even /
               std::sqrt(std::sqrt(1 + log_ratio * log_ratio / (kSoftRelative * kSoftRelative)));
    }
  }
  KernelConstants result = least;
  for (Eigen::Index i = 0; i < size; ++i) result[static_cast<size_t>(i)] += found(i) / scale(i);
  // Units of one class alone tell nothing of the other's: take what the fitted class has.
  const auto share = [&](size_t a, size_t b) {
    if (columns.col(static_cast<Eigen::Index>(a)).isZero()) result[a] = result[b];
    if (columns.col(static_cast<Eigen::Index>(b)).isZero()) result[b] = result[a];
  };
  switch (kind) {
    case KernelKind::kPrefill:
    case KernelKind::kExperts:
      share(1, 2);
      share(5, 6);
      break;
    case KernelKind::kDecode:
      share(2, 3);
      share(4, 5);
      share(6, 7);
      break;
    case KernelKind::kProduct:
      break;
  }
  return result;
}

struct ShapeOrder {
  bool operator()(const KernelShape& a, const KernelShape& b) const { return a.size < b.size; }
};

}  // namespace

std::vector<double> kernel_device_weights(std::span<const KernelFitDevice* const> devices) {
  std::vector<double> weights;
  for (const KernelFitDevice* one : devices) {
    const auto alike = std::ranges::count_if(devices, [&](const KernelFitDevice* other) {
      return other->device.generation == one->device.generation &&
             other->device.self_feeding == one->device.self_feeding;
    });
    weights.push_back(1 / std::sqrt(static_cast<double>(alike)));
  }
  return weights;
}

Result<KernelConstants> fit_kernel_constants(KernelKind kind, std::span<const KernelFitDevice* const> devices) {
  if (std::ranges::all_of(devices, [](const KernelFitDevice* device) { return device->samples.empty(); })) {
    return Error{"bad-fit", "there are no measured kernels to fit", std::string(name_of(kind)), "one or more"};
  }
  const auto weights = kernel_device_weights(devices);
  return kind == KernelKind::kProduct ? fit_products(devices, weights) : fit_columns(kind, devices, weights);
}

std::vector<double> kernel_log_residuals(const KernelConstants& constants, const KernelFitDevice& device) {
  std::vector<double> residuals;
  residuals.reserve(device.samples.size());
  for (const KernelSample& sample : device.samples) {
    residuals.push_back(
        std::log(sample.seconds / kernel_seconds(constants, device.device, sample.shape, Operands::kRepeated)));
  }
  return residuals;
}

KernelSpread fit_kernel_spread(const KernelConstants& constants, std::span<const KernelFitDevice* const> devices) {
  std::vector<std::map<KernelShape, double, ShapeOrder>> residuals;
  const std::vector<double> weights = kernel_device_weights(devices);
  double variance = 0, weight = 0;
  for (size_t d = 0; d < devices.size(); ++d) {
    auto& own = residuals.emplace_back();
    const auto values = kernel_log_residuals(constants, *devices[d]);
    double squares = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      own[devices[d]->samples[i].shape] = values[i];
      squares += values[i] * values[i];
    }
    if (values.empty()) continue;
    variance += weights[d] * weights[d] * squares / static_cast<double>(values.size());
    weight += weights[d] * weights[d];
  }
  // By how alike two devices are: products of their residuals over the mean of their squares.
  struct Pair {
    double sum = 0, count = 0;
    double mean() const { return std::clamp(sum / count, 0.0, kMostCorrelation); }
  } same_generation, same_class, other;
  for (size_t a = 0; a < devices.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      double products = 0, squares = 0;
      for (const auto& [shape, residual] : residuals[a]) {
        const auto found = residuals[b].find(shape);
        if (found == residuals[b].end()) continue;
        products += residual * found->second;
        squares += (residual * residual + found->second * found->second) / 2;
      }
      if (!(squares > 0)) continue;
      const KernelDevice &one = devices[a]->device, &two = devices[b]->device;
      Pair& pair = one.self_feeding != two.self_feeding ? other
                   : one.generation == two.generation   ? same_generation
                                                        : same_class;
      pair.sum += products / squares;
      pair.count += 1;
    }
  }
  KernelSpread spread;
  spread.log_sd = weight > 0 ? std::sqrt(variance / weight) : kUnknown;
  spread.other = other.count > 0 ? other.mean() : 0;
  spread.same_class = same_class.count > 0 ? std::max(same_class.mean(), spread.other) : spread.other;
  spread.same_generation =
      same_generation.count > 0 ? std::max(same_generation.mean(), spread.same_class) : spread.same_class;
  return spread;
}

}  // namespace perfcast::ai
