#include "evaluate/measured_choice.h"

#include <cmath>
#include <limits>

namespace perfcast {
namespace {

// A spread of the common level so wide that the first measurement fixes it: e^10 either way.
constexpr double kLevelVariance = 100;

}  // namespace

Eigen::MatrixXd weighted_covariance(const Eigen::MatrixXd& values, const Eigen::VectorXd& weights, double shrinkage) {
  const Eigen::MatrixXd present = values.unaryExpr([](double value) { return std::isnan(value) ? 0.0 : 1.0; });
  Eigen::MatrixXd residuals = values.unaryExpr([](double value) { return std::isnan(value) ? 0.0 : value; });
  const Eigen::RowVectorXd totals = weights.transpose() * present;
  const Eigen::RowVectorXd means = (weights.transpose() * residuals).cwiseQuotient(totals.cwiseMax(1e-12));
  residuals = (residuals.rowwise() - means).cwiseProduct(present);
  const Eigen::MatrixXd sums = residuals.transpose() * weights.asDiagonal() * residuals;
  const Eigen::MatrixXd shared = present.transpose() * weights.asDiagonal() * present;
  Eigen::MatrixXd covariance = sums.cwiseQuotient(shared.cwiseMax(1e-12));
  const Eigen::VectorXd variances = covariance.diagonal();
  covariance *= 1 - shrinkage;
  covariance.diagonal() = variances;
  return covariance;
}

std::vector<int64_t> most_telling_platforms(const Eigen::MatrixXd& covariance, int64_t count,
                                            const std::vector<bool>& allowed, double noise_log) {
  Eigen::MatrixXd left = covariance.array() + kLevelVariance;
  std::vector<int64_t> chosen;
  std::vector<bool> open = allowed;
  while (static_cast<int64_t>(chosen.size()) < count) {
    int64_t best = -1;
    double best_gain = -std::numeric_limits<double>::infinity();
    for (int64_t j = 0; j < left.cols(); ++j) {
      if (!open[static_cast<size_t>(j)]) continue;
      const double gain = left.col(j).squaredNorm() / (left(j, j) + noise_log * noise_log);
      if (gain > best_gain) {
        best_gain = gain;
        best = j;
      }
    }
    if (best < 0) break;
    chosen.push_back(best);
    open[static_cast<size_t>(best)] = false;
    const Eigen::VectorXd column = left.col(best);
    left -= column * column.transpose() / (column(best) + noise_log * noise_log);
  }
  return chosen;
}

}  // namespace perfcast
