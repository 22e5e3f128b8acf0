#include "learn/linear/lasso.h"

#include <gmock/gmock.h>

#include "learn/linear/nnls.h"

namespace perfcast {
namespace {

LassoProblem orthogonal() { return {Eigen::MatrixXd::Identity(3, 3), Eigen::Vector3d(2, -1, 0.3)}; }

// With an identity Gram matrix the lasso is soft thresholding of the moments.
TEST(Lasso, ThresholdsSoftlyWhereColumnsAreOrthogonal) {
  const Eigen::MatrixXd found = solve_lasso(orthogonal(), 0.5, false, Eigen::MatrixXd::Zero(3, 1));
  EXPECT_NEAR(found(0), 1.5, 1e-12);
  EXPECT_NEAR(found(1), -0.5, 1e-12);
  EXPECT_EQ(found(2), 0);
  const Eigen::MatrixXd positive = solve_lasso(orthogonal(), 0.5, true, Eigen::MatrixXd::Zero(3, 1));
  EXPECT_NEAR(positive(0), 1.5, 1e-12);
  EXPECT_EQ(positive(1), 0);
}

TEST(Lasso, LeavesNothingFromTheLargestPenaltyOn) {
  EXPECT_EQ(largest_penalty(orthogonal(), false), 2);
  EXPECT_EQ(solve_lasso(orthogonal(), 2, false, Eigen::MatrixXd::Zero(3, 1)).cwiseAbs().sum(), 0);
  EXPECT_GT(solve_lasso(orthogonal(), 1.999, false, Eigen::MatrixXd::Zero(3, 1))(0), 0);
}

TEST(Lasso, WithoutPenaltyIsLeastSquares) {
  Eigen::MatrixXd rows(5, 2);
  rows << 1, 2, 2, 1, 3, -1, -1, 1, 0.5, 0.25;
  const Eigen::VectorXd wanted = rows * Eigen::Vector2d(1.5, -2);
  const LassoProblem problem{rows.transpose() * rows, rows.transpose() * wanted};
  const Eigen::MatrixXd found = solve_lasso(problem, 0, false, Eigen::MatrixXd::Zero(2, 1));
  EXPECT_NEAR(found(0), 1.5, 1e-5);
  EXPECT_NEAR(found(1), -2, 1e-5);
  const Eigen::VectorXd active_set = nonnegative_least_squares(problem.gram, problem.moments.col(0));
  const Eigen::MatrixXd positive = solve_lasso(problem, 0, true, Eigen::MatrixXd::Zero(2, 1));
  EXPECT_NEAR(positive(0), active_set(0), 1e-5);
  EXPECT_NEAR(positive(1), active_set(1), 1e-5);
}

}  // namespace
}  // namespace perfcast
