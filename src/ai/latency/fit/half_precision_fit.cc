#include "ai/latency/fit/half_precision_fit.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "ai/latency/fit/bounded_least_squares.h"

namespace perfcast::ai {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kSoftScale = 0.1;
constexpr size_t kLeastProducts = 20;
constexpr size_t kLeastRows = 5;

// One parameter of products: the unit it is fitted in, so that all are near 1, and its box.
struct Fitted {
  double HalfPrecisionParameters::*member;
  double unit, least, most;
};
constexpr std::array kFitted = {
    Fitted{&HalfPrecisionParameters::start_s, 1e-6, 0.3e-6, 20e-6},
    Fitted{&HalfPrecisionParameters::compute_efficiency, 1, 0.3, 1},
    Fitted{&HalfPrecisionParameters::prologue_bytes, 100, 0, 2000},
    Fitted{&HalfPrecisionParameters::memory_efficiency, 1, 0.4, 1},
    Fitted{&HalfPrecisionParameters::whole_wave_share, 1, 0, 1},
    Fitted{&HalfPrecisionParameters::cache_bytes_per_cycle, 10, 2, 200},
    Fitted{&HalfPrecisionParameters::split_traffic, 1, 0.05, 20},
    Fitted{&HalfPrecisionParameters::streaming_share, 1, 0.05, 4},
    Fitted{&HalfPrecisionParameters::power_drop, 1, 0, 0.6},
};

HalfPrecisionParameters parameters_at(const VectorXd& values) {
  HalfPrecisionParameters parameters;
  for (size_t i = 0; i < kFitted.size(); ++i) {
    parameters.*kFitted[i].member = values[static_cast<Index>(i)] * kFitted[i].unit;
  }
  return parameters;
}

BoundedFitOptions options() {
  BoundedFitOptions options;
  options.soft_scale = kSoftScale;
  options.max_iterations = 60;
  options.tolerance = 1e-6;
  return options;
}

Error too_few(const DeviceFacts& device, size_t rows, const char* what, size_t least) {
  return {"bad-fit", fmt::format("{} {} of '{}'", rows, what, device.name), "", fmt::format("{} or more", least)};
}

Result<HalfPrecisionParameters> fit_products(const DeviceFacts& device, std::span<const MeasuredProduct> products) {
  const auto residuals = [&](const VectorXd& values, Eigen::Ref<VectorXd> out) {
    const auto model = HalfPrecisionModel::with_parameters(device, parameters_at(values));
    for (size_t i = 0; i < products.size(); ++i) {
      const ProductShape& shape = products[i].shape;
      const double weight_bytes = 2 * shape.batch * shape.k * shape.n;
      out[static_cast<Index>(i)] =
          std::log(model.product(shape, MathMode::kHalf, weight_bytes).seconds / products[i].seconds);
    }
  };
  VectorXd start(kFitted.size()), lower(kFitted.size()), upper(kFitted.size());
  const HalfPrecisionParameters defaults;
  for (size_t i = 0; i < kFitted.size(); ++i) {
    const auto at = static_cast<Index>(i);
    start[at] = defaults.*kFitted[i].member / kFitted[i].unit;
    lower[at] = kFitted[i].least / kFitted[i].unit;
    upper[at] = kFitted[i].most / kFitted[i].unit;
  }
  const auto fit = fit_bounded(residuals, static_cast<Index>(products.size()), start, lower, upper, options());
  if (!fit) return fit.error();
  return parameters_at(fit->parameters);
}

Result<VectorParameters> fit_vectors(const DeviceFacts& device, std::span<const MeasuredVector> all, VectorKind kind) {
  std::vector<const MeasuredVector*> rows;
  for (const MeasuredVector& row : all) {
    if (row.shape.kind == kind) rows.push_back(&row);
  }
  if (rows.size() < kLeastRows) return VectorParameters{};
  HalfPrecisionParameters trial;
  const auto residuals = [&](const VectorXd& values, Eigen::Ref<VectorXd> out) {
    trial.vector[static_cast<size_t>(kind)] = {values[0] * 1e-6, values[1]};
    const auto model = HalfPrecisionModel::with_parameters(device, trial);
    for (size_t i = 0; i < rows.size(); ++i) {
      out[static_cast<Index>(i)] = std::log(model.vector(rows[i]->shape, 2).seconds / rows[i]->seconds);
    }
  };
  const auto fit = fit_bounded(residuals, static_cast<Index>(rows.size()), Eigen::Vector2d(4, 5),
                               Eigen::Vector2d(0.1, 0.05), Eigen::Vector2d(100, 1000), options());
  if (!fit) return fit.error();
  return VectorParameters{fit->parameters[0] * 1e-6, fit->parameters[1]};
}

}  // namespace

Result<HalfPrecisionParameters> fit_half_precision(const DeviceFacts& device, std::span<const MeasuredProduct> products,
                                                   std::span<const MeasuredVector> vectors) {
  for (const double fact : {device.peak(MathMode::kHalf), device.memory_bytes_per_s, device.units, device.clock_hz}) {
    if (!(fact > 0)) {
      return Error{"bad-fit", "'" + device.name + "' lacks a fact", "",
                   "the half-precision peak, memory_bytes_per_s, units and clock_hz"};
    }
  }
  if (products.size() < kLeastProducts) return too_few(device, products.size(), "products", kLeastProducts);
  auto parameters = fit_products(device, products);
  if (!parameters) return parameters.error();
  for (size_t kind = 0; kind < kVectorKinds; ++kind) {
    const auto fitted = fit_vectors(device, vectors, static_cast<VectorKind>(kind));
    if (!fitted) return fitted.error();
    parameters->vector[kind] = *fitted;
  }
  const VectorParameters norm = parameters->vector[static_cast<size_t>(VectorKind::kNorm)];
  for (VectorParameters& each : parameters->vector) {
    if (std::isnan(each.start_s)) each = norm;
  }
  return parameters;
}

Status fit_all_reduce(const DeviceFacts& device, std::span<const MeasuredAllReduce> rows,
                      HalfPrecisionParameters& parameters) {
  if (rows.size() < kLeastRows) return too_few(device, rows.size(), "all-reduces", kLeastRows);
  if (!(device.link_bytes_per_s > 0)) {
    return Error{"bad-fit", "'" + device.name + "' lacks link_bytes_per_s", "", "a device whose facts state it"};
  }
  HalfPrecisionParameters trial = parameters;
  const auto residuals = [&](const VectorXd& values, Eigen::Ref<VectorXd> out) {
    trial.link_start_s = values[0] * 1e-5;
    trial.link_step_s = values[1] * 1e-6;
    trial.link_efficiency = values[2];
    const auto model = HalfPrecisionModel::with_parameters(device, trial);
    for (size_t i = 0; i < rows.size(); ++i) {
      out[static_cast<Index>(i)] = std::log(model.all_reduce_seconds(rows[i].bytes, rows[i].workers) / rows[i].seconds);
    }
  };
  const auto fit = fit_bounded(residuals, static_cast<Index>(rows.size()), Eigen::Vector3d(3, 1, 0.7),
                               Eigen::Vector3d(0.1, 0, 0.1), Eigen::Vector3d(20, 20, 1), options());
  if (!fit) return fit.error();
  parameters.link_start_s = fit->parameters[0] * 1e-5;
  parameters.link_step_s = fit->parameters[1] * 1e-6;
  parameters.link_efficiency = fit->parameters[2];
  return {};
}

}  // namespace perfcast::ai
