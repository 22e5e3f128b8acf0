#include "learn/linear/nnls.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <limits>

#include "base/random.h"
#include "learn/algebra/dense.h"

namespace perfcast {
namespace {

TEST(Nnls, KeepsWhatIsPositiveAnyway) {
  const Eigen::Matrix2d gram = Eigen::Vector2d(2, 4).asDiagonal();
  const Eigen::VectorXd x = nonnegative_least_squares(gram, Eigen::Vector2d(2, 12));
  EXPECT_NEAR(x(0), 1, 1e-12);
  EXPECT_NEAR(x(1), 3, 1e-12);
}

TEST(Nnls, SetsTheNegativeToZeroAndSolvesTheRest) {
  Eigen::Matrix2d gram;
  gram << 2, 1, 1, 2;
  // Without the bound: (5/3, -4/3). With it: x1 = 0, so x0 = 2/2.
  const Eigen::VectorXd x = nonnegative_least_squares(gram, Eigen::Vector2d(2, -1));
  EXPECT_NEAR(x(0), 1, 1e-12);
  EXPECT_EQ(x(1), 0);
}

// The best over all 2^n choices of which coordinates are 0.
double least_by_enumeration(const Eigen::MatrixXd& gram, const Eigen::VectorXd& moment) {
  double least = 0;
  const auto size = static_cast<int>(moment.size());
  for (int mask = 1; mask < (1 << size); ++mask) {
    std::vector<Eigen::Index> free;
    for (int i = 0; i < size; ++i) {
      if ((mask >> i & 1) != 0) free.push_back(i);
    }
    const Eigen::MatrixXd part = gram(free, free);
    const Eigen::VectorXd right = moment(free);
    const Eigen::VectorXd x = solve_positive_definite(part, right);
    if (x.minCoeff() >= 0) least = std::min(least, (0.5 * x.dot(part * x) - x.dot(right)));
  }
  return least;
}

TEST(Nnls, AgreesWithEnumerationAndMeetsTheOptimalityConditions) {
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const auto size = static_cast<Eigen::Index>(1 + random.below(8));
    const Eigen::Index rows = size + 3;
    const Eigen::MatrixXd a = Eigen::MatrixXd::NullaryExpr(rows, size, [&] { return random.normal(); });
    const Eigen::VectorXd b = Eigen::VectorXd::NullaryExpr(rows, [&] { return random.normal(); });
    const Eigen::MatrixXd gram = a.transpose() * a + 1e-6 * Eigen::MatrixXd::Identity(size, size);
    const Eigen::VectorXd moment = a.transpose() * b;
    const Eigen::VectorXd x = nonnegative_least_squares(gram, moment);
    ASSERT_GE(x.minCoeff(), 0);
    const Eigen::VectorXd gradient = gram * x - moment;
    EXPECT_GE(gradient.minCoeff(), -1e-8) << "trial " << trial;
    EXPECT_NEAR(gradient.dot(x), 0, 1e-8) << "trial " << trial;
    EXPECT_NEAR(0.5 * x.dot(gram * x) - x.dot(moment), least_by_enumeration(gram, moment), 1e-9) << "trial " << trial;
  }
}

}  // namespace
}  // namespace perfcast
