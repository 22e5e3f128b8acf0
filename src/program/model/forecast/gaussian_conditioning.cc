#include "program/model/forecast/gaussian_conditioning.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/text.h"
#include "learn/algebra/dense.h"
#include "program/model/features/microarchitecture.h"

namespace perfcast::program {
namespace {

// Shares of a residual's variance that platforms have in common, and the share of the covariance taken from that.
constexpr double kSameLine = 0.2;
constexpr double kSameDesign = 0.4;
constexpr double kSameProvider = 0.25;
constexpr double kOwn = 0.15;
constexpr double kBorrowed = 0.5;
constexpr double kFloorLog = 0.02;

// The chance that a server of each is run by the same provider; absent where one of them names none.
std::optional<double> same_provider(const Platform& a, const Platform& b) {
  const auto names_any = [](const Platform& platform) {
    return std::any_of(platform.facts.begin(), platform.facts.end(),
                       [](const auto& fact) { return fact.first.starts_with(kProviderFact); });
  };
  if (!names_any(a) || !names_any(b)) return std::nullopt;
  double shared = 0;
  for (const auto& [name, ratio] : a.facts) {
    const auto other = b.facts.find(name);
    if (name.starts_with(kProviderFact) && other != b.facts.end()) shared += ratio * other->second;
  }
  return shared;
}

// What is observed of pairs that were measured on different programs, and kinship by several rules at once, need not
// fit together: some mixture of platforms may come out with a variance below 0, and conditioning would then move a
// forecast the wrong way. Each direction is given the variance that the floor gives all: the nearest such matrix
// (Frobenius).
Eigen::MatrixXd at_least(const Eigen::MatrixXd& covariance, double floor) {
  // Where all fits together, the floor is on the diagonal already; half of it leaves room for rounding.
  Eigen::MatrixXd above = covariance;
  above.diagonal().array() -= floor / 2;
  if (is_positive_definite(above)) return covariance;
  const auto [values, vectors] = symmetric_eigen(covariance);
  const Eigen::MatrixXd result = vectors * values.cwiseMax(floor).asDiagonal() * vectors.transpose();
  return (result + result.transpose()) / 2;
}

}  // namespace

Result<Gaussian> condition(const Gaussian& prior, const std::vector<Measurement>& measured, double noise_log) {
  std::set<int64_t> seen;
  for (const Measurement& measurement : measured) {
    if (measurement.platform < 0 || measurement.platform >= prior.mean.size()) {
      return Error{"bad-measurement", "platform " + std::to_string(measurement.platform) + " is not in the forecast",
                   "", "an index below " + std::to_string(prior.mean.size())};
    }
    if (!std::isfinite(measurement.log_seconds)) {
      return Error{"bad-measurement", "a measured time is not a finite positive number", "", "seconds above 0"};
    }
    if (!seen.insert(measurement.platform).second) {
      return Error{"bad-measurement", "platform " + std::to_string(measurement.platform) + " is measured twice", "",
                   "one time per platform"};
    }
  }
  if (measured.size() < 2) return prior;

  const auto count = static_cast<Eigen::Index>(measured.size());
  std::vector<Eigen::Index> where;
  Eigen::VectorXd surprise(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Measurement& measurement = measured[static_cast<size_t>(i)];
    where.push_back(measurement.platform);
    surprise(i) = measurement.log_seconds - prior.mean(measurement.platform);
  }
  Eigen::MatrixXd seen_covariance = prior.covariance(where, where);
  seen_covariance.diagonal().array() += noise_log * noise_log + 1e-12;

  // A flat prior on the offset, exactly: the gain's rows are projected so that a common shift of all times is ignored.
  const Eigen::MatrixXd inverse = inverse_semidefinite(seen_covariance);
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(count);
  const Eigen::VectorXd weight = inverse * ones;
  const Eigen::MatrixXd precision = inverse - weight * weight.transpose() / weight.sum();

  return updated(prior, where, prior.covariance(Eigen::all, where) * precision, surprise);
}

double implied_log_seconds(const Gaussian& posterior, const std::vector<Measurement>& measured) {
  double sum = 0;
  for (const Measurement& measurement : measured) {
    sum += measurement.log_seconds - posterior.mean(measurement.platform);
  }
  return sum / static_cast<double>(measured.size());
}

Eigen::MatrixXd residual_covariance(const Eigen::MatrixXd& residuals, const Eigen::VectorXd& weights,
                                    const std::vector<Platform>& platforms) {
  const Eigen::MatrixXd present = residuals.unaryExpr([](double value) { return std::isnan(value) ? 0.0 : 1.0; });
  const Eigen::MatrixXd filled = residuals.unaryExpr([](double value) { return std::isnan(value) ? 0.0 : value; });
  const Eigen::MatrixXd sums = filled.transpose() * weights.asDiagonal() * filled;
  const Eigen::MatrixXd totals = present.transpose() * weights.asDiagonal() * present;
  const Eigen::MatrixXd observed = sums.cwiseQuotient(totals.cwiseMax(1e-12));

  const Eigen::Index count = observed.rows();
  std::vector<std::string> design;
  std::vector<std::string> line;
  for (const Platform& platform : platforms) {
    design.push_back(microarchitecture(platform));
    line.push_back(core_line(platform));
  }
  Eigen::MatrixXd kinship(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      const auto a = static_cast<size_t>(i);
      const auto b = static_cast<size_t>(j);
      const double related = design[a] == design[b] ? 1 : 0;
      kinship(i, j) = (line[a] == line[b] ? kSameLine : 0) + kSameDesign * related + (i == j ? kOwn : 0) +
                      kSameProvider * (i == j ? 1 : same_provider(platforms[a], platforms[b]).value_or(related));
    }
  }
  Eigen::MatrixXd covariance =
      (1 - kBorrowed) * observed + kBorrowed * observed.trace() / static_cast<double>(count) * kinship;
  covariance.diagonal().array() += kFloorLog * kFloorLog;
  return at_least(covariance, kFloorLog * kFloorLog);
}

Eigen::VectorXd relative_deviations(const Eigen::MatrixXd& covariance) {
  const Eigen::VectorXd row_means = covariance.rowwise().mean();
  const double mean = row_means.mean();
  return (covariance.diagonal() - 2 * row_means).array().operator+(mean).max(0).sqrt();
}

}  // namespace perfcast::program
