#include "studies/power/left_out_workloads.h"

#include <gtest/gtest.h>

#include <cmath>

#include "measure/power/testing/power_world.h"

namespace perfcast::measure::power_study {
namespace {

TEST(LeftOutWorkloads, ALineInLoadIsScoredByCell) {
  PowerWorld world;
  world.machines = 2;
  const PowerTable table = world.table();
  LeftOutRequest request;
  request.scored = [](const std::string& workload) { return workload != "workload 0"; };
  const auto scores = leave_workloads_out(table, request, "line", utilisation_line());
  ASSERT_TRUE(scores);
  EXPECT_EQ(scores->cells.size(), 8U);
  EXPECT_LT(scores->error(), 0.3);
  EXPECT_TRUE(std::isnan(scores->covered()));
  const auto mean = leave_workloads_out(table, request, "mean", mean_power());
  ASSERT_TRUE(mean);
  EXPECT_LT(scores->error(), mean->error());
}

TEST(LeftOutWorkloads, ScoresAreOfForecastOverMeasured) {
  PowerDesign design;
  design.watts = Eigen::VectorXd{{10, 20, 40}};
  design.group = {0, 0, 0};
  design.workload = {0, 0, 1};
  PowerForecast forecast;
  forecast.watts = Eigen::VectorXd{{11, 18, 40}};
  forecast.lower = forecast.watts * 0.92;
  forecast.upper = forecast.watts * 1.08;
  MethodScores scores;
  add_scores(design, {0, 1, 2}, forecast, scores.cells);
  EXPECT_NEAR((scores.cells.at({0, 0}).error), 0.1, 1e-12);
  EXPECT_NEAR((scores.cells.at({0, 0}).mean_error), 1.0 / 30, 1e-12);
  EXPECT_NEAR((scores.cells.at({0, 0}).covered), 0, 1e-12);
  EXPECT_NEAR(scores.error(), 0.05, 1e-12);
}

}  // namespace
}  // namespace perfcast::measure::power_study
