#include "program/model/attribution/sum_attribution.h"

#include <algorithm>
#include <cmath>

namespace perfcast::program {

Eigen::MatrixXd log_sum_attribution(const Eigen::RowVectorXd& own, const Eigen::RowVectorXd& reference,
                                    const Eigen::MatrixXd& costs, const Eigen::VectorXd& intercept, double floor) {
  const Eigen::RowVectorXd change = own - reference;
  Eigen::MatrixXd result = change.transpose().asDiagonal() * costs;
  for (Eigen::Index j = 0; j < costs.cols(); ++j) {
    const double after = std::max(floor, own.dot(costs.col(j)) + intercept(j));
    const double before = std::max(floor, reference.dot(costs.col(j)) + intercept(j));
    // Of the terms themselves, not of the two sums: the shares then add up to 1 whatever rounding does to the sums.
    const double total = result.col(j).sum();
    const double log = std::log(after / before);
    // Terms that cancel out: each by its slope; nothing is left to share out.
    const bool cancels = std::abs(total) <= 1e-12 * result.col(j).cwiseAbs().sum();
    result.col(j) *= cancels ? 1 / before : log / total;
  }
  return result;
}

}  // namespace perfcast::program
