#include "program/model/attribution/line_attribution.h"

#include <gmock/gmock.h>

#include <cmath>

namespace perfcast::program {
namespace {

SmoothModel product_and_exponential() {
  return {[](const Eigen::RowVectorXd& row) -> Eigen::RowVectorXd {
            return Eigen::RowVector2d(row(0) * row(1), std::exp(3 * row(2)));
          },
          [](const Eigen::RowVectorXd& row) -> Eigen::MatrixXd {
            Eigen::MatrixXd slopes = Eigen::MatrixXd::Zero(3, 2);
            slopes(0, 0) = row(1);
            slopes(1, 0) = row(0);
            slopes(2, 1) = 3 * std::exp(3 * row(2));
            return slopes;
          }};
}

TEST(IntegratedGradients, AreTheIntegralAlongTheLine) {
  const Eigen::MatrixXd log =
      integrated_gradients(product_and_exponential(), Eigen::RowVector3d(3, 2, 1), Eigen::RowVector3d(1, 0, -1), 1e-12);
  // (1 + 2t)(2t): the first input has the integral of 2 x 2t, the second of 2 x (1 + 2t).
  EXPECT_NEAR(log(0, 0), 2, 1e-12);
  EXPECT_NEAR(log(1, 0), 4, 1e-12);
  EXPECT_EQ(log(2, 0), 0);
  EXPECT_NEAR(log(2, 1), std::exp(3) - std::exp(-3), 1e-11);
}

TEST(IntegratedGradients, OfTheReferenceItselfAreNothing) {
  const Eigen::RowVector3d row(1, 2, 3);
  EXPECT_TRUE(integrated_gradients(product_and_exponential(), row, row, 1e-12).isZero(0));
}

}  // namespace
}  // namespace perfcast::program
