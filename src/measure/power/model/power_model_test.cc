#include "measure/power/model/power_model.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/json.h"
#include "base/random.h"
#include "base/unknown.h"
#include "measure/power/testing/power_world.h"

namespace perfcast::measure {
namespace {

using testing::HasSubstr;

double mean_error(const PowerForecast& forecast, const PowerTable& table) {
  return (forecast.watts.array() / table.watts.array() - 1).abs().mean();
}

TEST(PowerModel, ForecastsAWorkloadThatItHasNotSeen) {
  PowerWorld world;
  world.machines = 2;
  const PowerTable table = world.table();
  std::vector<size_t> train, test;
  for (size_t r = 0; r < table.rows(); ++r) (table.workload[r] == 4 ? test : train).push_back(r);
  const auto model = PowerModel::fit(table, train, {});
  ASSERT_TRUE(model) << to_text(model.error());
  const PowerTable unseen = table_part(table, test);
  const auto forecast = model->forecast(unseen);
  ASSERT_TRUE(forecast) << to_text(forecast.error());
  EXPECT_LT(mean_error(*forecast, unseen), 0.06);
  EXPECT_LT(model->card().error, 0.5 * model->card().mean_power_error);
  EXPECT_EQ(model->card().left_out, "workload");
  EXPECT_EQ(model->card().error_by_workload.size(), 4U);
  EXPECT_TRUE((forecast->lower.array() < forecast->watts.array()).all());
  EXPECT_TRUE((forecast->upper.array() > forecast->watts.array()).all());
}

TEST(PowerModel, EveryFormIsReadBackAsItWasWritten) {
  const PowerTable table = PowerWorld().table();
  for (const PowerFormKind kind :
       {PowerFormKind::kSharedLine, PowerFormKind::kNonnegative, PowerFormKind::kKernel, PowerFormKind::kTrees}) {
    PowerModelOptions options;
    options.forms = {kind};
    options.sets = {ActivitySet::kCounters};
    const auto model = PowerModel::fit(table, all_rows(table), options);
    ASSERT_TRUE(model) << to_text(model.error());
    EXPECT_THAT(model->card().chosen, HasSubstr(to_text(kind)));
    const auto json = parse_json(perfcast::to_text(model->to_json()), "m.json");
    ASSERT_TRUE(json);
    const auto again = PowerModel::from_json(*json, "m.json");
    ASSERT_TRUE(again) << to_text(again.error());
    const auto before = model->forecast(table), after = again->forecast(table);
    ASSERT_TRUE(before && after);
    EXPECT_LT((before->watts - after->watts).cwiseAbs().maxCoeff(), 1e-6) << to_text(kind);
    EXPECT_EQ(perfcast::to_text(again->to_json()), perfcast::to_text(model->to_json())) << to_text(kind);
  }
}

TEST(PowerModel, CostsOfTheNonNegativeFormOnlyAdd) {
  const PowerTable table = PowerWorld().table();
  PowerModelOptions options;
  options.forms = {PowerFormKind::kNonnegative};
  const auto model = PowerModel::fit(table, all_rows(table), options);
  ASSERT_TRUE(model);
  const Json json = model->to_json();
  const Json& costs = json["forms"][0]["coefficients"][0];
  ASSERT_GT(costs.size(), 1U);
  for (size_t c = 0; c + 1 < costs.size(); ++c) EXPECT_GE(costs[c].get<double>(), 0);
}

TEST(PowerModel, OneWorkloadIsCutByTime) {
  PowerWorld world;
  world.workloads = 1;
  world.rows = 200;
  const PowerTable table = world.table();
  const auto model = PowerModel::fit(table, all_rows(table), {});
  ASSERT_TRUE(model) << to_text(model.error());
  EXPECT_EQ(model->card().left_out, "stretch of time");
  EXPECT_LT(model->card().error, 0.05);
}

TEST(PowerModel, IntervalsCoverWorkloadsLeftOut) {
  PowerWorld world;
  world.workloads = 12;
  world.noise = 0.03;
  const PowerTable table = world.table();
  double covered = 0, count = 0;
  for (int out = 0; out < 12; out += 3) {
    std::vector<size_t> train, test;
    for (size_t r = 0; r < table.rows(); ++r) (table.workload[r] == out ? test : train).push_back(r);
    PowerModelOptions options;
    options.forms = {PowerFormKind::kSharedLine};
    const auto model = PowerModel::fit(table, train, options);
    ASSERT_TRUE(model);
    const PowerTable unseen = table_part(table, test);
    const auto forecast = model->forecast(unseen);
    ASSERT_TRUE(forecast);
    for (Eigen::Index r = 0; r < unseen.watts.size(); ++r) {
      covered += unseen.watts(r) >= forecast->lower(r) && unseen.watts(r) <= forecast->upper(r) ? 1 : 0;
      ++count;
    }
  }
  EXPECT_GT(covered / count, 0.75);
}

TEST(PowerModel, SaysWhatIsMissing) {
  const PowerTable table = PowerWorld().table();
  std::vector<size_t> few = all_rows(table);
  few.resize(20);
  const auto refused = PowerModel::fit(table, few, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "too-few-samples");
  const auto model = PowerModel::fit(table, all_rows(table), {});
  ASSERT_TRUE(model);
  PowerTable other = table;
  other.counters[3] = "something else";
  const auto forecast = model->forecast(other);
  ASSERT_FALSE(forecast);
  EXPECT_THAT(forecast.error().message, HasSubstr("misses"));
}

TEST(PowerModel, TakesNoRowWithoutItsSetting) {
  PowerTable table = PowerWorld().table();
  table.frequency_hz = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(table.rows()), 2e9);
  PowerModelOptions options;
  options.forms = {PowerFormKind::kSharedLine};
  const auto model = PowerModel::fit(table, all_rows(table), options);
  ASSERT_TRUE(model) << to_text(model.error());
  table.frequency_hz(17) = kUnknown;
  const auto refused = PowerModel::fit(table, all_rows(table), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "missing-setting");
  EXPECT_THAT(refused.error().message, HasSubstr("sample 18 has no frequency"));
  const auto forecast = model->forecast(table);
  ASSERT_FALSE(forecast);
  EXPECT_EQ(forecast.error().code, "missing-setting");
}

TEST(PowerModel, MeasuredClocksMakeFewGroups) {
  PowerTable table = PowerWorld().table();
  const auto n = static_cast<Eigen::Index>(table.rows());
  table.frequency_hz.resize(n);
  Random random(3);
  for (Eigen::Index r = 0; r < n; ++r) table.frequency_hz(r) = 1e9 + 2e9 * random.uniform();
  number_runs(table);
  PowerModelOptions options;
  options.forms = {PowerFormKind::kSharedLine};
  options.sets = {ActivitySet::kLoad};
  const auto model = PowerModel::fit(table, all_rows(table), options);
  ASSERT_TRUE(model) << to_text(model.error());
  EXPECT_LE(model->card().groups.size(), 65U);
  const auto again = PowerModel::from_json(model->to_json(), "m");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->features().clock_step_hz(), model->features().clock_step_hz());
}

TEST(PowerModel, RefusesMoreGroupsThanMemoryHolds) {
  PowerTable table = PowerWorld().table();
  const auto n = static_cast<Eigen::Index>(table.rows());
  // 400 counters, each sample a workload of its own.
  table.counters.resize(400);
  for (size_t c = 4; c < 400; ++c) table.counters[c] = "counter " + std::to_string(c);
  Random random(4);
  table.values.conservativeResize(n, 400);
  for (Eigen::Index c = 4; c < 400; ++c) {
    for (Eigen::Index r = 0; r < n; ++r) table.values(r, c) = random.uniform();
  }
  table.workloads.clear();
  for (size_t r = 0; r < table.rows(); ++r) {
    table.workloads.push_back("job " + std::to_string(r));
    table.workload[r] = static_cast<int>(r);
  }
  PowerModelOptions options;
  options.forms = {PowerFormKind::kSharedLine};
  options.sets = {ActivitySet::kCounters};
  const auto refused = PowerModel::fit(table, all_rows(table), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "too-large");
  EXPECT_THAT(refused.error().expected, HasSubstr("--ignore"));
}

TEST(PowerModel, IdleSamplesOfAModelInPercentStayPercent) {
  PowerTable table = PowerWorld().table();
  table.counters[0] = "cpu_utilisation";
  table.values.col(0) *= 100;
  PowerModelOptions options;
  options.forms = {PowerFormKind::kSharedLine};
  options.sets = {ActivitySet::kLoad};
  const auto model = PowerModel::fit(table, all_rows(table), options);
  ASSERT_TRUE(model);
  PowerTable idle = table;
  idle.values *= 0.008;  // 0.04 to 0.8 percent
  const auto again = PowerModel::from_json(model->to_json(), "m");
  ASSERT_TRUE(again) << to_text(again.error());
  for (const PowerModel& one : {*model, *again}) {
    const auto forecast = one.forecast(idle);
    ASSERT_TRUE(forecast);
    EXPECT_LT(forecast->watts.maxCoeff(), 80);
    EXPECT_EQ(one.features().percent_by_model(idle), std::vector<std::string>{"cpu_utilisation"});
    EXPECT_TRUE(one.features().percent_by_model(table).empty());
  }
  // A file that doesn't say what the shares were is taken as before.
  Json old = model->to_json();
  old["features"].erase("shares");
  old["features"].erase("clock_step_hz");
  const auto before = PowerModel::from_json(old, "m");
  ASSERT_TRUE(before) << to_text(before.error());
  EXPECT_EQ(before->forecast(table)->watts, model->forecast(table)->watts);
  EXPECT_GT(before->forecast(idle)->watts.maxCoeff(), 90);
  old["features"]["shares"] = Json::array({{{"name", "cpu_utilisation"}, {"whole", 7}}});
  EXPECT_FALSE(PowerModel::from_json(old, "m").ok());
}

TEST(PowerModel, RefusesWhatIsNoModel) {
  EXPECT_FALSE(PowerModel::from_json(Json::object(), "m").ok());
  const PowerTable table = PowerWorld().table();
  PowerModelOptions options;
  options.forms = {PowerFormKind::kSharedLine};
  const auto model = PowerModel::fit(table, all_rows(table), options);
  ASSERT_TRUE(model);
  for (const char* broken : {"schema", "card", "features", "groups", "centre", "scale", "half_width_log", "forms"}) {
    Json json = model->to_json();
    json[broken] = "x";
    EXPECT_FALSE(PowerModel::from_json(json, "m").ok()) << broken;
  }
  Json json = model->to_json();
  json["forms"][0]["shared"].push_back(1);
  EXPECT_FALSE(PowerModel::from_json(json, "m").ok());
  json = model->to_json();
  json["forms"][0]["groups"] = {99};
  EXPECT_FALSE(PowerModel::from_json(json, "m").ok());
}

}  // namespace
}  // namespace perfcast::measure
