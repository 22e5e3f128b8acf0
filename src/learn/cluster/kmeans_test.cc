#include "learn/cluster/kmeans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast {
namespace {

using testing::ElementsAre;

// Two pairs on a line: 0, 1 and 10, 12.
Eigen::MatrixXd two_pairs() { return Eigen::Vector4d(0, 1, 10, 12); }

TEST(KMeans, EachCentreIsTheMeanOfItsRows) {
  const KMeans found = settle_centres(two_pairs(), Eigen::VectorXd::Ones(4), Eigen::Vector2d(0, 1), 100);
  EXPECT_THAT(found.of, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(found.centres(0, 0), 0.5);
  EXPECT_EQ(found.centres(1, 0), 11);
  EXPECT_EQ(found.within, (0.25 + 0.25 + 1 + 1) / 4);
}

TEST(KMeans, HeavierRowsPullMore) {
  const KMeans found = settle_centres(two_pairs(), Eigen::Vector4d(1, 3, 1, 1), Eigen::Vector2d(0, 10), 100);
  EXPECT_EQ(found.centres(0, 0), 0.75);
  EXPECT_EQ(found.within, (0.5625 + 3 * 0.0625 + 1 + 1) / 6);
}

TEST(KMeans, ACentreWithoutRowsStays) {
  const KMeans found = settle_centres(two_pairs(), Eigen::VectorXd::Ones(4), Eigen::Vector3d(0, 11, -50), 100);
  EXPECT_EQ(found.centres(2, 0), -50);
}

TEST(KMeans, SpreadsNoMoreCentresThanThereAreDifferentRows) {
  Random random(1);
  const Eigen::MatrixXd rows = Eigen::Vector4d(2, 2, 5, 5);
  const Eigen::MatrixXd centres = spread_centres(rows, Eigen::VectorXd::Ones(4), 1, 4, random);
  ASSERT_EQ(centres.rows(), 2);
  EXPECT_EQ(centres(0, 0), 2);
  EXPECT_EQ(centres(1, 0), 5);
}

TEST(KMeans, DrawsOnlyWhatHasAWeight) {
  Random random(1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(draw_weighted(Eigen::Vector3d(0, 0.5, 0), random), 1);
}

}  // namespace
}  // namespace perfcast
