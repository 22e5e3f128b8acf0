#include "power/model/power_model.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/json.h"
#include "base/random.h"
#include "power/testing/power_world.h"

namespace perfcast {
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
    const auto json = parse_json(to_text(model->to_json()), "m.json");
    ASSERT_TRUE(json);
    const auto again = PowerModel::from_json(*json, "m.json");
    ASSERT_TRUE(again) << to_text(again.error());
    const auto before = model->forecast(table), after = again->forecast(table);
    ASSERT_TRUE(before && after);
    EXPECT_LT((before->watts - after->watts).cwiseAbs().maxCoeff(), 1e-6) << to_text(kind);
    EXPECT_EQ(to_text(again->to_json()), to_text(model->to_json())) << to_text(kind);
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
}  // namespace perfcast
