#include "studies/serving/end_to_end_widths.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::ai::serving_study {
namespace {

TEST(EndToEndWidths, DistancesInLogs) {
  EXPECT_NEAR(distance_ratio(4, 1, 0.5, 2), 2, 1e-12);
  EXPECT_NEAR(distance_ratio(0.5, 1, 0.25, 2), 0.5, 1e-12);
  EXPECT_EQ(distance_ratio(1, 1, 1, 1), 0);
  EXPECT_EQ(distance_ratio(2, 1, 1, 1), 3);
}

TEST(EndToEndWidths, GroupsWeighTheSame) {
  EXPECT_NEAR(width_ratio({}), 1, 1e-6);
  // A share of 0.1 of a weight of 1.5 may be outside: 0.3 of the half group.
  EXPECT_NEAR(width_ratio({{"a", 0}}), 1.0364334 / 1.6448536, 1e-6);
  EXPECT_NEAR(width_ratio({{"a", 2}}), 2, 1e-6);
  // One of many points outside would do if points counted; of a group of its own it doesn't.
  std::vector<GroupedRatio> ratios(99, {"many", 0.1});
  ratios.push_back({"one", 1.5});
  EXPECT_NEAR(width_ratio(ratios), 1.5, 1e-6);
  EXPECT_NEAR(width_ratio({{"a", 100}}), 3, 1e-6);
}

}  // namespace
}  // namespace perfcast::ai::serving_study
