#include "learn/algebra/dense.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace perfcast {
namespace {

Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, uint64_t seed) {
  Random random(seed);
  Eigen::MatrixXd result(rows, columns);
  for (double& value : result.reshaped()) value = random.normal();
  return result;
}

TEST(Dense, SolvesWhatItSays) {
  const Eigen::MatrixXd root = random_matrix(7, 7, 1);
  const Eigen::MatrixXd a = root * root.transpose();
  const Eigen::MatrixXd b = random_matrix(7, 3, 2);
  EXPECT_LT((a * solve_positive_definite(a, b) - b).norm(), 1e-9);
  const Eigen::VectorXd first = b.col(0);
  EXPECT_LT((a * solve_positive_definite(a, first) - first).norm(), 1e-9);
  EXPECT_LT((a * solve_semidefinite(a, first) - first).norm(), 1e-9);
  EXPECT_LT((a * inverse_positive_definite(a) - Eigen::MatrixXd::Identity(7, 7)).norm(), 1e-9);
  EXPECT_LT((a * inverse_semidefinite(a) - Eigen::MatrixXd::Identity(7, 7)).norm(), 1e-9);
  const Eigen::MatrixXd lower = cholesky_root(a);
  EXPECT_LT((lower * lower.transpose() - a).norm(), 1e-9);
  EXPECT_EQ(lower(0, 1), 0);
}

TEST(Dense, TellsDefiniteFromIndefinite) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Identity(3, 3);
  EXPECT_TRUE(is_positive_definite(a));
  a(2, 2) = -1e-9;
  EXPECT_FALSE(is_positive_definite(a));
}

TEST(Dense, EigenvaluesAscendAndRebuild) {
  const Eigen::MatrixXd root = random_matrix(6, 6, 3);
  const Eigen::MatrixXd a = root + root.transpose();
  const SymmetricEigen eigen = symmetric_eigen(a);
  for (Eigen::Index i = 1; i < 6; ++i) EXPECT_LE(eigen.values(i - 1), eigen.values(i));
  EXPECT_LT((eigen.vectors * eigen.values.asDiagonal() * eigen.vectors.transpose() - a).norm(), 1e-9);
}

TEST(Dense, SingularValuesDescendAndDirectionsAreOrthogonal) {
  for (const auto& [rows, columns] : {std::pair<Eigen::Index, Eigen::Index>{9, 4}, {4, 9}}) {
    const Eigen::MatrixXd a = random_matrix(rows, columns, 4);
    const ThinSvd svd = thin_svd(a);
    ASSERT_EQ(svd.values.size(), 4);
    ASSERT_EQ(svd.right.cols(), 4);
    for (Eigen::Index i = 1; i < 4; ++i) EXPECT_GE(svd.values(i - 1), svd.values(i));
    EXPECT_LT((svd.right.transpose() * svd.right - Eigen::MatrixXd::Identity(4, 4)).norm(), 1e-9);
    // |A v| is the singular value of v.
    for (Eigen::Index i = 0; i < 4; ++i) EXPECT_NEAR((a * svd.right.col(i)).norm(), svd.values(i), 1e-9);
  }
}

}  // namespace
}  // namespace perfcast
