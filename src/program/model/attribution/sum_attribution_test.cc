#include "program/model/attribution/sum_attribution.h"

#include <gmock/gmock.h>

#include <cmath>

namespace perfcast::program {
namespace {

// Times 1 + 1 = 2 and 4 + 2 = 6: of the logarithm's change, log 3, the first term has 3 of 4 parts.
TEST(LogSumAttribution, SharesTheChangeAsTheSumDoes) {
  const Eigen::MatrixXd costs = Eigen::Vector2d(1, 1);
  const Eigen::MatrixXd log =
      log_sum_attribution(Eigen::RowVector2d(4, 2), Eigen::RowVector2d(1, 1), costs, Eigen::VectorXd::Zero(1), 1e-9);
  EXPECT_NEAR(log(0, 0), 0.75 * std::log(3.0), 1e-15);
  EXPECT_NEAR(log(1, 0), 0.25 * std::log(3.0), 1e-15);
}

TEST(LogSumAttribution, TermsThatCancelOutHaveTheirSlopes) {
  const Eigen::MatrixXd costs = Eigen::Vector2d(1, 1);
  const Eigen::MatrixXd log =
      log_sum_attribution(Eigen::RowVector2d(3, 1), Eigen::RowVector2d(1, 3), costs, Eigen::VectorXd::Zero(1), 1e-9);
  EXPECT_NEAR(log(0, 0), 0.5, 1e-15);
  EXPECT_NEAR(log(1, 0), -0.5, 1e-15);
}

TEST(LogSumAttribution, KeepsToTheFloor) {
  const Eigen::MatrixXd costs = Eigen::Vector2d(1, 2);
  const Eigen::VectorXd intercept = Eigen::VectorXd::Constant(1, -0.5);
  const Eigen::MatrixXd log =
      log_sum_attribution(Eigen::RowVector2d(0.25, 0.25), Eigen::RowVector2d(0, 0), costs, intercept, 0.05);
  EXPECT_NEAR(log.sum(), std::log(0.25 / 0.05), 1e-14);
  EXPECT_NEAR(log(1, 0), 2 * log(0, 0), 1e-14);
  EXPECT_TRUE(log_sum_attribution(Eigen::RowVector2d(1, 1), Eigen::RowVector2d(1, 1), costs, intercept, 0.05).isZero());
}

}  // namespace
}  // namespace perfcast::program
