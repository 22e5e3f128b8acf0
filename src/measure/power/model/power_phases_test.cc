#include "measure/power/model/power_phases.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "base/unknown.h"

namespace perfcast::measure {
namespace {

PowerTable table_of(const std::vector<int>& runs) {
  PowerTable table;
  table.run = runs;
  table.machine.assign(runs.size(), 0);
  return table;
}

TEST(PowerPhases, CutsWherePowerChanges) {
  Random random(1);
  Eigen::VectorXd watts(90);
  for (Eigen::Index i = 0; i < 90; ++i) watts(i) = (i < 30 ? 100 : i < 60 ? 150 : 120) * (1 + 0.01 * random.normal());
  const auto phases = power_phases(table_of(std::vector<int>(90, 0)), watts, {});
  ASSERT_EQ(phases.size(), 3U);
  EXPECT_EQ(phases[0].to, 30U);
  EXPECT_EQ(phases[1].to, 60U);
  EXPECT_EQ(phases[2].to, 90U);
}

TEST(PowerPhases, NoiseIsNoPhase) {
  Random random(2);
  Eigen::VectorXd watts(200);
  for (double& value : watts) value = 100 * (1 + 0.03 * random.normal());
  EXPECT_EQ(power_phases(table_of(std::vector<int>(200, 0)), watts, {}).size(), 1U);
}

TEST(PowerPhases, WhatIsWrongInARunStaysThere) {
  Eigen::VectorXd watts = Eigen::VectorXd::Constant(60, 100);
  watts.tail(20).setConstant(200);
  watts(3) = kUnknown;
  std::vector<int> runs(60, 1);
  std::fill(runs.begin(), runs.begin() + 20, 0);
  const auto phases = power_phases(table_of(runs), watts, {});
  ASSERT_EQ(phases.size(), 3U);
  EXPECT_EQ(phases[1].from, 20U);
  EXPECT_EQ(phases[1].to, 40U);
}

TEST(PowerPhases, RunsAreApart) {
  const Eigen::VectorXd watts = Eigen::VectorXd::Constant(7, 50);
  const auto phases = power_phases(table_of({0, 0, 0, 1, 1, 2, 2}), watts, {});
  ASSERT_EQ(phases.size(), 3U);
  EXPECT_EQ(phases[1].from, 3U);
  EXPECT_TRUE(power_phases(table_of({}), Eigen::VectorXd(0), {}).empty());
}

}  // namespace
}  // namespace perfcast::measure
