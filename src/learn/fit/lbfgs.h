#pragma once
// Minimisation of a smooth function of many variables (limited-memory BFGS with backtracking).

#include <Eigen/Core>
#include <functional>

namespace perfcast {

// Value at x; writes the gradient, which has the size of x.
using Objective = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)>;

struct MinimiseOptions {
  int64_t iterations = 300;
  int64_t memory = 10;
  double gradient_tolerance = 1e-5;  // largest component at which it stops
};

// From `start`, never to a worse point.
Eigen::VectorXd minimise(const Objective& objective, const Eigen::VectorXd& start, const MinimiseOptions& options);

}  // namespace perfcast
