#include "learn/fit/standardiser.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/unknown.h"

namespace perfcast {
namespace {

TEST(Standardiser, LeavesGapsOutAndClips) {
  Eigen::MatrixXd rows(3, 2);
  rows << 1, 5, 3, kUnknown, 5, 5;
  const Standardiser standardiser = Standardiser::fit(rows, Eigen::Vector3d(1, 1, 1));
  EXPECT_DOUBLE_EQ(standardiser.centre(0), 3);
  EXPECT_DOUBLE_EQ(standardiser.scale(0), std::sqrt(8.0 / 3));
  EXPECT_DOUBLE_EQ(standardiser.scale(1), 1);  // never varied
  const Eigen::MatrixXd applied = standardiser.apply(rows);
  EXPECT_EQ(applied(1, 1), 0);
  EXPECT_EQ(standardiser.apply(Eigen::MatrixXd::Constant(1, 2, 1e9))(0, 0), 4);
  const Eigen::MatrixXd gaps = standardiser.apply_with_gaps(rows);
  for (Eigen::Index i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(std::isnan(gaps(i)), std::isnan(rows(i)));
    if (std::isnan(rows(i))) continue;
    EXPECT_EQ(gaps(i), applied(i));
  }
}

}  // namespace
}  // namespace perfcast
