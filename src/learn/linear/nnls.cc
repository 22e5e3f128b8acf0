#include "learn/linear/nnls.h"

#include <limits>
#include <vector>

#include "learn/algebra/dense.h"

namespace perfcast {
namespace {

// The unconstrained minimum over the free coordinates; the others are 0.
Eigen::VectorXd solve_free(const Eigen::MatrixXd& gram, const Eigen::VectorXd& moment,
                           const std::vector<Eigen::Index>& free) {
  const Eigen::VectorXd part = moment(free);
  const Eigen::VectorXd solution = solve_positive_definite(gram(free, free), part);
  Eigen::VectorXd result = Eigen::VectorXd::Zero(moment.size());
  result(free) = solution;
  return result;
}

}  // namespace

Eigen::VectorXd nonnegative_least_squares(const Eigen::MatrixXd& gram, const Eigen::VectorXd& moment) {
  const Eigen::Index size = moment.size();
  const double tolerance = 1e-12 * std::max(1.0, moment.cwiseAbs().maxCoeff());
  // Costs are mostly positive, so the search starts with all coordinates free; the loop is the same from any start.
  std::vector<bool> is_free(static_cast<size_t>(size), true);
  const auto free_list = [&is_free, size] {
    std::vector<Eigen::Index> free;
    for (Eigen::Index i = 0; i < size; ++i) {
      if (is_free[static_cast<size_t>(i)]) free.push_back(i);
    }
    return free;
  };

  Eigen::VectorXd x = solve_free(gram, moment, free_list());
  if (x.minCoeff() < 0) {
    for (Eigen::Index i = 0; i < size; ++i) is_free[static_cast<size_t>(i)] = x(i) > 0;
    x = x.cwiseMax(0);
  }
  for (Eigen::Index round = 0; round < 10 * size; ++round) {
    for (Eigen::Index inner = 0; inner <= size; ++inner) {
      const Eigen::VectorXd candidate = solve_free(gram, moment, free_list());
      double step = 1;
      for (Eigen::Index i = 0; i < size; ++i) {
        if (is_free[static_cast<size_t>(i)] && candidate(i) <= 0) step = std::min(step, x(i) / (x(i) - candidate(i)));
      }
      if (!(step < 1)) {
        x = candidate.cwiseMax(0);
        break;
      }
      x += step * (candidate - x);
      for (Eigen::Index i = 0; i < size; ++i) {
        if (is_free[static_cast<size_t>(i)] && candidate(i) <= 0 && x(i) <= tolerance) {
          is_free[static_cast<size_t>(i)] = false;
          x(i) = 0;
        }
      }
    }
    const Eigen::VectorXd descent = moment - gram * x;
    Eigen::Index best = -1;
    double steepest = tolerance;
    for (Eigen::Index i = 0; i < size; ++i) {
      if (!is_free[static_cast<size_t>(i)] && descent(i) > steepest) {
        steepest = descent(i);
        best = i;
      }
    }
    if (best < 0) break;
    is_free[static_cast<size_t>(best)] = true;
  }
  return x;
}

}  // namespace perfcast
