#include "program/evaluate/measured_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace perfcast::program {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// Two clusters that move together, of sizes 3 and 2, and one platform of its own with little variance.
Eigen::MatrixXd clusters() {
  Eigen::MatrixXd loadings = Eigen::MatrixXd::Zero(6, 2);
  loadings.block(0, 0, 3, 1).setConstant(1);
  loadings.block(3, 1, 2, 1).setConstant(1);
  Eigen::MatrixXd covariance = loadings * loadings.transpose();
  covariance.diagonal().array() += 0.01;
  return covariance;
}

TEST(WeightedCovariance, LeavesAbsentEntriesOut) {
  const double absent = std::numeric_limits<double>::quiet_NaN();
  Eigen::MatrixXd values(3, 2);
  values << 0, 1, 2, 3, 4, absent;
  const Eigen::MatrixXd covariance = weighted_covariance(values, Eigen::Vector3d(1, 1, 2), 0.5);
  // Means 2.5 and 2; variances (6.25 + 0.25 + 2 * 2.25) / 4 and (1 + 1) / 2; shared rows: (2.5 - 0.5) / 2, halved.
  EXPECT_DOUBLE_EQ(covariance(0, 0), 2.75);
  EXPECT_DOUBLE_EQ(covariance(1, 1), 1);
  EXPECT_DOUBLE_EQ(covariance(0, 1), 0.5);
  EXPECT_DOUBLE_EQ(covariance(1, 0), 0.5);
}

TEST(MostTellingPlatforms, TakesOneOfEachClusterFirst) {
  const auto chosen = most_telling_platforms(clusters(), 3, std::vector<bool>(6, true), 0.01);
  ASSERT_THAT(chosen, SizeIs(3));
  std::vector<int> cluster;
  cluster.reserve(chosen.size());
  for (const int64_t j : chosen) cluster.push_back(j < 3 ? 0 : j < 5 ? 1 : 2);
  EXPECT_THAT(cluster, testing::UnorderedElementsAre(0, 1, 2));
}

TEST(MostTellingPlatforms, OneAloneIsTheMostTypical) {
  // Platform 2 moves half with either of the others, which move apart.
  Eigen::MatrixXd loadings(3, 2);
  loadings << 1, 0, 0, 1, 0.5, 0.5;
  const Eigen::MatrixXd covariance = loadings * loadings.transpose();
  EXPECT_THAT(most_telling_platforms(covariance, 1, std::vector<bool>(3, true), 0.01), ElementsAre(2));
}

TEST(MostTellingPlatforms, TwoAreThoseThatDifferMost) {
  Eigen::VectorXd along(5);
  along << -2, -1, 0, 1, 2;
  const Eigen::MatrixXd covariance = along * along.transpose();
  EXPECT_THAT(most_telling_platforms(covariance, 2, std::vector<bool>(5, true), 0.01), ElementsAre(0, 4));
}

TEST(MostTellingPlatforms, OnlyAllowedOnes) {
  std::vector<bool> allowed(6, false);
  allowed[4] = true;
  EXPECT_THAT(most_telling_platforms(clusters(), 3, allowed, 0.01), ElementsAre(4));
}

}  // namespace
}  // namespace perfcast::program
