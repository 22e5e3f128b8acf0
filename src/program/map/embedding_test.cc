#include "program/map/embedding.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/random.h"
#include "base/unknown.h"

namespace perfcast::program {
namespace {

TEST(Embedding, PrincipalPlaneOfPointsOnALine) {
  Eigen::MatrixXd rows(4, 3);
  rows << 0, 0, 1, 1, -2, 1, 2, -4, 1, 3, -6, 1;
  const PrincipalPlane plane = principal_plane(rows, Eigen::VectorXd::Ones(4));
  EXPECT_NEAR(plane.shares_ratio[0], 1, 1e-12);
  EXPECT_NEAR(plane.shares_ratio[1], 0, 1e-12);
  // Towards (-1, 2, 0): the largest entry of an axis is positive.
  EXPECT_NEAR(plane.axes(1, 0), 2 / std::sqrt(5), 1e-9);
  const Eigen::MatrixXd points = plane.project(rows);
  EXPECT_NEAR(points(0, 0), 1.5 * std::sqrt(5), 1e-9);
  EXPECT_NEAR(points(3, 0), -1.5 * std::sqrt(5), 1e-9);
  EXPECT_NEAR(points.col(1).cwiseAbs().maxCoeff(), 0, 1e-9);
}

TEST(Embedding, WeightsAndAbsentValues) {
  Eigen::MatrixXd rows(3, 2);
  rows << 0, 5, 4, kUnknown, 8, 5;
  const PrincipalPlane plane = principal_plane(rows, Eigen::Vector3d(1, 1, 2));
  EXPECT_DOUBLE_EQ(plane.centre(0), 5);
  EXPECT_DOUBLE_EQ(plane.centre(1), 5);
  EXPECT_NEAR(plane.project(rows)(1, 0), -1, 1e-9) << "an absent value counts as the centre";
}

// 30 points of three groups in ten dimensions, one after the other.
Eigen::MatrixXd three_groups() {
  Random random(2);
  Eigen::MatrixXd rows(30, 10);
  for (double& value : rows.reshaped()) value = 0.3 * random.normal();
  for (Eigen::Index g = 0; g < 3; ++g) rows.block(10 * g, g, 10, 1).array() += 4;
  return rows;
}

TEST(Embedding, TsneKeepsNeighboursTogether) {
  const Eigen::MatrixXd rows = three_groups();
  Eigen::MatrixXd distances(30, 30);
  for (Eigen::Index p = 0; p < 30; ++p) {
    for (Eigen::Index q = 0; q < 30; ++q) distances(p, q) = (rows.row(p) - rows.row(q)).norm();
  }
  const Eigen::MatrixXd start = principal_plane(rows, Eigen::VectorXd::Ones(30)).project(rows);
  TsneOptions options;
  options.perplexity = 8;
  const Eigen::MatrixXd points = tsne(distances, start, options);
  ASSERT_TRUE(points.allFinite());
  for (Eigen::Index p = 0; p < 30; ++p) {
    double inside = 0, outside = 1e9;
    for (Eigen::Index q = 0; q < 30; ++q) {
      const double distance = (points.row(p) - points.row(q)).norm();
      if (p / 10 == q / 10) {
        inside = std::max(inside, distance);
      } else {
        outside = std::min(outside, distance);
      }
    }
    EXPECT_LT(inside, outside) << p;
  }
  EXPECT_TRUE(points.isApprox(tsne(distances, start, options))) << "nothing is random";
}

TEST(Embedding, TsneOfTwinsAndFewPoints) {
  const Eigen::MatrixXd start = Eigen::MatrixXd::Random(6, 2);
  EXPECT_TRUE(tsne(Eigen::MatrixXd::Zero(6, 6), start).allFinite());
  EXPECT_EQ(tsne(Eigen::MatrixXd::Zero(2, 2), start.topRows(2)), start.topRows(2));
  EXPECT_TRUE(tsne(Eigen::MatrixXd::Ones(6, 6), Eigen::MatrixXd::Zero(6, 2)).allFinite());
}

}  // namespace
}  // namespace perfcast::program
