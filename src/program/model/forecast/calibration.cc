#include "program/model/forecast/calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/unknown.h"
#include "learn/conformal/conformal.h"
#include "program/model/forecast/gaussian_conditioning.h"

namespace perfcast::program {
namespace {

constexpr double kTypicalDisagreement = 0.08;
constexpr double kLeastDisagreement = 0.04;  // parts that agree by chance don't make a forecast certain
constexpr double kFlagShare = 0.9;  // of training programs, each left out with its family, count as in distribution

// Each family weighs 1.
std::vector<double> equal_family_weights(const Targets& targets) {
  std::vector<double> members(static_cast<size_t>(targets.families), 0);
  for (const int64_t family : targets.family) ++members[static_cast<size_t>(family)];
  std::vector<double> weights;
  for (const int64_t family : targets.family) weights.push_back(1 / members[static_cast<size_t>(family)]);
  return weights;
}

// Root mean square per platform, families weighing the same, half of it borrowed from all platforms.
Eigen::VectorXd scale_per_platform(const Eigen::MatrixXd& residuals, const Targets& targets,
                                   const std::vector<double>& weights) {
  Eigen::VectorXd squares = Eigen::VectorXd::Zero(residuals.cols());
  Eigen::VectorXd totals = Eigen::VectorXd::Zero(residuals.cols());
  for (Eigen::Index p = 0; p < residuals.rows(); ++p) {
    for (Eigen::Index j = 0; j < residuals.cols(); ++j) {
      const double weight = weights[static_cast<size_t>(p)] * targets.present(p, j);
      squares(j) += weight * residuals(p, j) * residuals(p, j);
      totals(j) += weight;
    }
  }
  const Eigen::VectorXd mean_squares = squares.cwiseQuotient(totals.cwiseMax(1e-12));
  return ((mean_squares.array() + mean_squares.mean()) / 2).max(1e-8).sqrt();
}

}  // namespace

double unweighted_quantile(std::vector<double> values, double share) {
  if (values.empty()) return kUnknown;
  const double needed = share * static_cast<double>(values.size()) - 1e-9;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max(std::ceil(needed) - 1, 0.0));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double weighted_quantile(const std::vector<double>& values, const std::vector<double>& weights, double share) {
  if (values.empty()) return kUnknown;
  std::vector<std::pair<double, double>> order(values.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = {values[i], weights[i]};
  // The slack swallows what adding up in another order changes.
  const double needed = share * std::accumulate(weights.begin(), weights.end(), 0.0) - 1e-9;
  // Halves the part that holds the quantile: what lies below `begin` weighs `below` together.
  double below = 0;
  auto begin = order.begin(), end = order.end();
  while (end - begin > 1) {
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, [](const auto& a, const auto& b) { return a.first < b.first; });
    double lower = below;
    for (auto item = begin; item != middle; ++item) lower += item->second;
    if (lower >= needed) {
      end = middle;
    } else {
      below = lower;
      begin = middle;
    }
  }
  return begin->first;
}

Eigen::MatrixXd expected_residuals(const Calibration& calibration, const Eigen::VectorXd& disagreement) {
  return (disagreement.array().max(kLeastDisagreement) / kTypicalDisagreement).sqrt().matrix() *
         calibration.platform_scale.transpose();
}

Eigen::MatrixXd interval_half_widths(const Calibration& calibration, const Eigen::VectorXd& disagreement) {
  Eigen::MatrixXd half = calibration.multiple * expected_residuals(calibration, disagreement);
  if (calibration.own_half_width.size() == 0) return half;
  // Forecasts are about the mean over all platforms, which is off with each of them.
  const Eigen::RowVectorXd own = calibration.own_half_width.transpose().cwiseAbs2();
  const auto count = static_cast<double>(own.size());
  const Eigen::RowVectorXd about_mean = (1 - 2 / count) * own.array() + own.sum() / (count * count);
  return (half.cwiseAbs2().rowwise() + about_mean.cwiseMax(0)).cwiseSqrt();
}

Calibration calibrate(const Prediction& predictions, const Targets& targets, const TrainingTable& table,
                      double coverage) {
  Calibration result;
  result.coverage = coverage;
  const std::vector<double> weights = equal_family_weights(targets);
  const Eigen::MatrixXd residuals = targets.log_rpv - predictions.log_rpv;
  result.platform_scale = scale_per_platform(residuals, targets, weights);

  const Eigen::MatrixXd expected = expected_residuals(result, predictions.disagreement);
  Eigen::MatrixXd known = residuals;
  for (Eigen::Index i = 0; i < known.size(); ++i) {
    if (targets.present(i) == 0) known(i) = kUnknown;
  }
  ConformalScores scores;
  scores.family = targets.family;
  scores.scores = known.cwiseAbs().cwiseQuotient(expected);
  result.multiple = conformal_quantile(scores, coverage);
  result.residual_covariance = residual_covariance(known, targets.weights, table.platforms);
  result.residuals = std::move(known);

  if (predictions.log_seconds.size() > 0 && predictions.log_seconds.array().isFinite().any()) {
    std::vector<double> errors, counted;
    for (Eigen::Index p = 0; p < residuals.rows(); ++p) {
      const double level = targets.log_seconds(p) - predictions.log_seconds(p);
      for (Eigen::Index j = 0; j < residuals.cols(); ++j) {
        if (targets.present(p, j) == 0 || !std::isfinite(level)) continue;
        errors.push_back(std::abs(level + residuals(p, j)));
        counted.push_back(weights[static_cast<size_t>(p)]);
      }
    }
    result.seconds_half_width = weighted_quantile(errors, counted, coverage);
  }

  const Eigen::VectorXd& usual = predictions.disagreement;
  result.disagreement_limit =
      weighted_quantile(std::vector<double>(usual.data(), usual.data() + usual.size()), weights, kFlagShare);
  return result;
}

}  // namespace perfcast::program
