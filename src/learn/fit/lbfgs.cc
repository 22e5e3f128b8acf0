#include "learn/fit/lbfgs.h"

#include <cmath>
#include <deque>

namespace perfcast {
namespace {

struct Pair {
  Eigen::VectorXd step, change;
  double curvature;  // step . change
};

// The two-loop recursion: minus the inverse Hessian's estimate times the gradient.
Eigen::VectorXd direction(const std::deque<Pair>& pairs, const Eigen::VectorXd& gradient) {
  Eigen::VectorXd result = -gradient;
  std::vector<double> alpha(pairs.size());
  for (size_t i = pairs.size(); i-- > 0;) {
    alpha[i] = pairs[i].step.dot(result) / pairs[i].curvature;
    result -= alpha[i] * pairs[i].change;
  }
  if (!pairs.empty()) result *= pairs.back().curvature / pairs.back().change.squaredNorm();
  for (size_t i = 0; i < pairs.size(); ++i) {
    result += (alpha[i] - pairs[i].change.dot(result) / pairs[i].curvature) * pairs[i].step;
  }
  return result;
}

}  // namespace

Eigen::VectorXd minimise(const Objective& objective, const Eigen::VectorXd& start, const MinimiseOptions& options) {
  constexpr double kSufficientDecrease = 1e-4;
  constexpr int kBacktracks = 30;
  Eigen::VectorXd x = start;
  Eigen::VectorXd gradient(x.size());
  double value = objective(x, gradient);
  std::deque<Pair> pairs;
  Eigen::VectorXd next_gradient(x.size());
  for (int64_t iteration = 0; iteration < options.iterations; ++iteration) {
    if (gradient.cwiseAbs().maxCoeff() <= options.gradient_tolerance) break;
    Eigen::VectorXd towards = direction(pairs, gradient);
    double slope = towards.dot(gradient);
    if (!(slope < 0)) {
      pairs.clear();
      towards = -gradient;
      slope = -gradient.squaredNorm();
    }
    // The first step has no scale yet: no variable may move by more than 1.
    double length = pairs.empty() ? std::min(1.0, 1 / towards.cwiseAbs().maxCoeff()) : 1;
    Eigen::VectorXd next = x;
    double next_value = value;
    bool found = false;
    for (int attempt = 0; attempt < kBacktracks && !found; ++attempt, length /= 2) {
      next = x + length * towards;
      next_value = objective(next, next_gradient);
      found = std::isfinite(next_value) && next_value <= value + kSufficientDecrease * length * slope;
    }
    if (!found) {
      if (pairs.empty()) break;
      pairs.clear();
      continue;
    }
    Pair pair{next - x, next_gradient - gradient, 0};
    pair.curvature = pair.step.dot(pair.change);
    if (pair.curvature > 1e-10 * pair.step.norm() * pair.change.norm()) {
      pairs.push_back(std::move(pair));
      if (static_cast<int64_t>(pairs.size()) > options.memory) pairs.pop_front();
    }
    x = next;
    value = next_value;
    gradient = next_gradient;
  }
  return x;
}

}  // namespace perfcast
