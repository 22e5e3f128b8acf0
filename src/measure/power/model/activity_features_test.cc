#include "measure/power/model/activity_features.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/json.h"
#include "measure/power/model/power_model.h"
#include "measure/power/testing/power_world.h"

namespace perfcast::measure {
namespace {

Eigen::VectorXd column(const PowerDesign& design, const std::string& name) {
  for (size_t c = 0; c < design.names.size(); ++c) {
    if (design.names[c] == name) return design.rows.col(static_cast<Eigen::Index>(c));
  }
  ADD_FAILURE() << "no input " << name;
  return {};
}

TEST(ActivityFeatures, KnowsLoadClockAndWork) {
  const PowerTable table = PowerWorld().table();
  const auto features = ActivityFeatures::learn(table, all_rows(table), ActivitySet::kLoad);
  const PowerDesign design = features.design(table);
  EXPECT_THAT(design.names,
              testing::ElementsAre("awake", "load", "load_clock_sqrt", "load_clock", "load_clock2", "load_ipc"));
  EXPECT_NEAR(column(design, "load")(3), (table.values(2, 0) + table.values(3, 0) + table.values(4, 0)) / 3, 1e-12);
  // One clock all the time: the capacity is cycles / load.
  EXPECT_LT((column(design, "load") - column(design, "load_clock")).cwiseAbs().maxCoeff(), 0.01);
  EXPECT_EQ(design.groups, std::vector<std::string>{"machine 0"});
  EXPECT_EQ(design.log_scale.cwiseAbs().maxCoeff(), 0);
}

TEST(ActivityFeatures, HistoryStaysWithinARun) {
  const PowerTable table = PowerWorld().table();
  const auto features = ActivityFeatures::learn(table, all_rows(table), ActivitySet::kHistory);
  const PowerDesign design = features.design(table);
  EXPECT_EQ(column(design, "misses_before")(0), 0);
  EXPECT_EQ(column(design, "misses_before")(80), 0);  // the first of the second workload
  EXPECT_EQ(column(design, "misses_before")(81), column(design, "misses")(80));
  EXPECT_EQ(column(design, "run_begins").sum(), 5);
}

TEST(ActivityFeatures, SettingsScaleThePowerAndMakeGroups) {
  PowerTable table = PowerWorld().table();
  const auto n = static_cast<Eigen::Index>(table.rows());
  table.frequency_hz = Eigen::VectorXd::Constant(n, 2e9);
  table.frequency_hz.head(n / 2).setConstant(1e9);
  table.voltage_v = Eigen::VectorXd::Constant(n, 1.1);
  table.cores = Eigen::VectorXd::Constant(n, 4);
  const PowerDesign design = ActivityFeatures::learn(table, all_rows(table), ActivitySet::kLoad).design(table);
  EXPECT_EQ(design.groups, (std::vector<std::string>{"machine 0 1000 MHz 4 cores", "machine 0 2000 MHz 4 cores"}));
  EXPECT_NEAR(design.log_scale(0), std::log(1.1 * 1.1 * 4), 1e-12);
  EXPECT_NEAR(design.log_scale(n - 1), std::log(1.1 * 1.1 * 8), 1e-12);
}

TEST(ActivityFeatures, PercentAndFaultsOfSharesAreSeen) {
  PowerTable table = PowerWorld().table();
  const PowerDesign plain = ActivityFeatures::learn(table, all_rows(table), ActivitySet::kLoad).design(table);
  table.values.col(0) *= 100;
  table.values(5, 0) = 4e6;  // a sampler's fault: left out of the mean around it
  const PowerDesign percent = ActivityFeatures::learn(table, all_rows(table), ActivitySet::kLoad).design(table);
  EXPECT_NEAR(column(plain, "load")(50), column(percent, "load")(50), 1e-12);
  EXPECT_LT(column(percent, "load")(5), 1);
}

TEST(ActivityFeatures, UserSystemAndWaitHaveOneUnit) {
  PowerTable table = PowerWorld().table();
  table.counters = {"cpu_user", "cpu_system", "cpu_wio", "misses"};
  table.values.col(0) *= 100;
  table.values.col(1) = table.values.col(0) * 0.01;  // under 1%
  table.values.col(2).setConstant(0.5);              // half a percent, not half of the time
  const PowerDesign design = ActivityFeatures::learn(table, all_rows(table), ActivitySet::kLoad).design(table);
  EXPECT_NEAR(column(design, "wait")(7), 0.005, 1e-12);
  EXPECT_LT(column(design, "load").maxCoeff(), 1);
  table.counters[0] = "cpu_share";
  table.values.col(0) /= 100;
  table.counters[1] = "other";
  const PowerDesign alone = ActivityFeatures::learn(table, all_rows(table), ActivitySet::kLoad).design(table);
  EXPECT_NEAR(column(alone, "wait")(7), 0.5, 1e-12);
}

TEST(ActivityFeatures, PercentIsWhatTheNameSays) {
  PowerTable table = PowerWorld().table();
  table.counters[0] = "cpu_percent";
  const PowerDesign design = ActivityFeatures::learn(table, all_rows(table), ActivitySet::kLoad).design(table);
  EXPECT_LT(column(design, "load").maxCoeff(), 0.01);
}

TEST(ActivityFeatures, ReadsBackWhatItWrites) {
  const PowerTable table = PowerWorld().table();
  for (const ActivitySet set : {ActivitySet::kLoad, ActivitySet::kCounters, ActivitySet::kHistory}) {
    const auto features = ActivityFeatures::learn(table, all_rows(table), set);
    const auto again = ActivityFeatures::from_json(features.to_json(), "m");
    ASSERT_TRUE(again) << to_text(again.error());
    EXPECT_EQ(again->design(table).rows.array().isNaN().select(-1, again->design(table).rows),
              features.design(table).rows.array().isNaN().select(-1, features.design(table).rows));
  }
  EXPECT_FALSE(ActivityFeatures::from_json(Json{{"set", "none"}}, "m").ok());
}

TEST(ActivityFeatures, WithoutAnyLoadCountersAreTheInputs) {
  PowerTable table = PowerWorld().table();
  table.counters = {"a", "b", "c", "d"};
  const PowerDesign design = ActivityFeatures::learn(table, all_rows(table), ActivitySet::kLoad).design(table);
  EXPECT_EQ(design.names.size(), 8U);  // each plain and as a square root
}

}  // namespace
}  // namespace perfcast::measure
