#pragma once
// Integrated gradients (Sundararajan, Taly & Yan, ICML 2017) of what is smooth: each input's slope, integrated along
// the straight line from the reference's row to the program's.

#include <Eigen/Core>
#include <functional>

namespace perfcast::program {

struct SmoothModel {
  std::function<Eigen::RowVectorXd(const Eigen::RowVectorXd& row)> value;  // [1 x F] -> [1 x Q]
  std::function<Eigen::MatrixXd(const Eigen::RowVectorXd& row)> slopes;    // [1 x F] -> [F x Q]
};

// For values of log relative times.
inline constexpr double kLineToleranceLog = 1e-11;

// [F x Q]: what each input adds. Gauss-Legendre quadrature, the line cut into twice as many pieces until the sums are
// within `tolerance` of value(own) - value(reference), or there are 256.
Eigen::MatrixXd integrated_gradients(const SmoothModel& model, const Eigen::RowVectorXd& own,
                                     const Eigen::RowVectorXd& reference, double tolerance);

}  // namespace perfcast::program
