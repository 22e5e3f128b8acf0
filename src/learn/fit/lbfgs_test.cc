#include "learn/fit/lbfgs.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast {
namespace {

TEST(Minimise, FindsTheValleyOfRosenbrock) {
  const auto rosenbrock = [](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
    const double a = 1 - x(0);
    const double b = x(1) - x(0) * x(0);
    gradient(0) = -2 * a - 400 * x(0) * b;
    gradient(1) = 200 * b;
    return a * a + 100 * b * b;
  };
  const Eigen::VectorXd x = minimise(rosenbrock, Eigen::Vector2d(-1.2, 1), {});
  EXPECT_NEAR(x(0), 1, 1e-4);
  EXPECT_NEAR(x(1), 1, 1e-4);
}

TEST(Minimise, NeverEndsWorseThanItStarts) {
  // Not a number a step away: the search must stay where it can be evaluated.
  const auto cliff = [](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
    gradient(0) = -1 / (2 - x(0)) + 0.5;
    return std::log(2 - x(0)) + 0.5 * x(0);
  };
  const Eigen::VectorXd start = Eigen::VectorXd::Constant(1, 1.0);
  const Eigen::VectorXd x = minimise(cliff, start, {.iterations = 5});
  Eigen::VectorXd gradient(1);
  EXPECT_LE(cliff(x, gradient), cliff(start, gradient));
}

}  // namespace
}  // namespace perfcast
