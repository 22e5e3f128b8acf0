#include "program/map/clusters.h"

#include <gmock/gmock.h>

#include <set>

#include "base/random.h"
#include "base/unknown.h"

namespace perfcast::program {
namespace {

Eigen::MatrixXd distances_of(const Eigen::MatrixXd& points) {
  Eigen::MatrixXd distances(points.rows(), points.rows());
  for (Eigen::Index p = 0; p < points.rows(); ++p) {
    for (Eigen::Index q = 0; q < points.rows(); ++q) distances(p, q) = (points.row(p) - points.row(q)).norm();
  }
  return distances;
}

// Five points about each of (0, 0), (10, 0) and (0, 10), the middle one first.
Eigen::MatrixXd three_crosses() {
  Eigen::MatrixXd points(15, 2);
  const double middles[3][2] = {{0, 0}, {10, 0}, {0, 10}};
  for (Eigen::Index c = 0; c < 3; ++c) {
    points.middleRows(5 * c, 5) << 0, 0, 1, 0, -1, 0, 0, 1, 0, -1;
    points.middleRows(5 * c, 5).rowwise() += Eigen::RowVector2d(middles[c][0], middles[c][1]);
  }
  return points;
}

TEST(Clusters, FindsThreeCrossesAndTheirMiddles) {
  const Clustering found = cluster_programs(distances_of(three_crosses()), Eigen::VectorXd::Ones(15));
  ASSERT_EQ(found.medoids.size(), 3U);
  EXPECT_EQ(std::set<int64_t>(found.medoids.begin(), found.medoids.end()), (std::set<int64_t>{0, 5, 10}));
  for (size_t p = 0; p < 15; ++p) EXPECT_EQ(found.medoids[static_cast<size_t>(found.cluster[p])] / 5, p / 5);
  EXPECT_GT(found.silhouette, 0.8);
  EXPECT_LT(cluster_programs(distances_of(three_crosses()), Eigen::VectorXd::Ones(15), 2).silhouette, found.silhouette);
}

TEST(Clusters, LargestWeightIsFirst) {
  Eigen::VectorXd weights = Eigen::VectorXd::Ones(15);
  weights.segment(10, 5).setConstant(3);
  const Clustering found = cluster_programs(distances_of(three_crosses()), weights, 3);
  EXPECT_EQ(found.medoids.front(), 10);
  EXPECT_EQ(found.cluster[12], 0);
}

// Of all triples of medoids none is better: the exchange ends where that is so for this many points.
TEST(Clusters, ExchangesReachTheBest) {
  Random random(4);
  Eigen::MatrixXd points(12, 2);
  for (double& value : points.reshaped()) value = random.normal();
  const Eigen::MatrixXd distances = distances_of(points);
  const auto cost_of = [&](int64_t a, int64_t b, int64_t c) {
    return distances.col(a).cwiseMin(distances.col(b)).cwiseMin(distances.col(c)).sum();
  };
  const Clustering found = cluster_programs(distances, Eigen::VectorXd::Ones(12), 3);
  double least = 1e9;
  for (int64_t a = 0; a < 12; ++a) {
    for (int64_t b = a + 1; b < 12; ++b) {
      for (int64_t c = b + 1; c < 12; ++c) least = std::min(least, cost_of(a, b, c));
    }
  }
  EXPECT_NEAR(cost_of(found.medoids[0], found.medoids[1], found.medoids[2]), least, 1e-9);
}

TEST(Clusters, FewProgramsAndUnknownDistances) {
  EXPECT_EQ(cluster_programs(Eigen::MatrixXd::Zero(1, 1), Eigen::VectorXd::Ones(1)).medoids.size(), 1U);
  Eigen::MatrixXd distances = Eigen::MatrixXd::Constant(4, 4, kUnknown);
  distances.diagonal().setZero();
  distances(0, 1) = distances(1, 0) = 1;
  const Clustering found = cluster_programs(distances, Eigen::VectorXd::Ones(4), 4);
  EXPECT_EQ(found.medoids.size(), 4U);
  EXPECT_EQ(std::set<int64_t>(found.cluster.begin(), found.cluster.end()).size(), 4U);
  // All at one place.
  const Clustering same = cluster_programs(Eigen::MatrixXd::Zero(5, 5), Eigen::VectorXd::Ones(5), 2);
  EXPECT_EQ(same.medoids.size(), 2U);
  EXPECT_EQ(same.cluster[static_cast<size_t>(same.medoids[1])], 1);
}

}  // namespace
}  // namespace perfcast::program
