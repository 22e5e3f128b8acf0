#include "measure/phases/phase_clusters.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace perfcast::measure {
namespace {

// `of` says around which of some far-apart centres each row lies.
Eigen::MatrixXd rows_around(const std::vector<int>& of, double spread, uint64_t seed) {
  Random random(seed);
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(of.size()), 4);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    for (Eigen::Index k = 0; k < 4; ++k)
      rows(i, k) = (of[static_cast<size_t>(i)] == k ? 20 : 0) + spread * random.normal();
  }
  return rows;
}

std::vector<int> turns() {
  std::vector<int> of;
  of.reserve(120);
  for (int i = 0; i < 120; ++i) of.push_back(i < 30 ? 2 : i < 60 ? 0 : i < 90 ? 2 : 1);
  return of;
}

TEST(PhaseClusters, FindsGroupsInTheOrderInWhichTheyCome) {
  const std::vector<int> of = turns();
  const Eigen::MatrixXd rows = rows_around(of, 1, 3);
  const PhaseClusters found = choose_phases(rows, Eigen::VectorXd::Ones(rows.rows()), kMostChosenKinds, 1, 1);
  ASSERT_EQ(found.count(), 3U);
  for (size_t i = 0; i < of.size(); ++i) EXPECT_EQ(found.cluster[i], of[i] == 2 ? 0U : of[i] == 0 ? 1U : 2U);
  for (size_t k = 0; k < 3; ++k) EXPECT_EQ(found.cluster[found.representatives[k]], k);
}

TEST(PhaseClusters, ASteadyProgramHasOnePhase) {
  const Eigen::MatrixXd rows = rows_around(std::vector<int>(200, 1), 0.3, 7);
  EXPECT_EQ(choose_phases(rows, Eigen::VectorXd::Ones(200), kMostChosenKinds, 1, 1).count(), 1U);
}

TEST(PhaseClusters, HasNoMoreThanThereAreDifferentRows) {
  Eigen::MatrixXd rows(6, 1);
  rows << 0, 0, 5, 5, 0, 5;
  const PhaseClusters found = cluster_phases(rows, Eigen::VectorXd::Ones(6), 4, 1);
  EXPECT_EQ(found.count(), 2U);
  EXPECT_EQ(found.within, 0);
  EXPECT_EQ(cluster_phases(rows.topRows(1), Eigen::VectorXd::Ones(1), 4, 1).count(), 1U);
}

TEST(PhaseClusters, RepeatsBySeed) {
  const Eigen::MatrixXd rows = rows_around(turns(), 6, 9);
  const Eigen::VectorXd weights = Eigen::VectorXd::LinSpaced(rows.rows(), 1, 3);
  EXPECT_EQ(cluster_phases(rows, weights, 5, 4).cluster, cluster_phases(rows, weights, 5, 4).cluster);
}

}  // namespace
}  // namespace perfcast::measure
