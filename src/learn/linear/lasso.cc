#include "learn/linear/lasso.h"

#include <algorithm>
#include <cmath>

namespace perfcast {
namespace {

constexpr int kMostSweeps = 1000;
constexpr double kStill = 1e-6;

}  // namespace

Eigen::MatrixXd solve_lasso(const LassoProblem& problem, double penalty, bool nonnegative, Eigen::MatrixXd start) {
  const Eigen::Index features = problem.gram.rows();
  for (Eigen::Index j = 0; j < problem.moments.cols(); ++j) {
    Eigen::VectorXd coefficients = start.col(j);
    Eigen::VectorXd gradient = problem.moments.col(j) - problem.gram * coefficients;  // X'(y - Xb)
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      double moved = 0;
      for (Eigen::Index k = 0; k < features; ++k) {
        const double curvature = problem.gram(k, k);
        if (!(curvature > 0)) continue;
        const double wanted = gradient(k) + curvature * coefficients(k);
        double next = (std::abs(wanted) - penalty) / curvature;
        next = next <= 0 ? 0 : std::copysign(next, wanted);
        if (nonnegative) next = std::max(next, 0.0);
        const double step = next - coefficients(k);
        if (step == 0) continue;
        coefficients(k) = next;
        gradient -= step * problem.gram.col(k);
        moved = std::max(moved, std::abs(step));
      }
      if (moved <= kStill * std::max(coefficients.cwiseAbs().maxCoeff(), 1e-12)) break;
    }
    start.col(j) = coefficients;
  }
  return start;
}

double largest_penalty(const LassoProblem& problem, bool nonnegative) {
  if (problem.moments.size() == 0) return 0;
  return nonnegative ? std::max(problem.moments.maxCoeff(), 0.0) : problem.moments.cwiseAbs().maxCoeff();
}

}  // namespace perfcast
