#include "program/evaluate/scaling_evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "program/model/scaling/testing/scaling_world.h"

namespace perfcast::program {
namespace {

constexpr int kFamilies = 6;

const ScalingFit& world_fit() {
  static const ScalingFit made(scaling_world::world(kFamilies, 0.02));
  return made;
}

const ScalingRow& row_of(const ScalingEvaluation& evaluation, const std::string& forecast) {
  const auto found = std::find_if(evaluation.rows.begin(), evaluation.rows.end(), [&](const ScalingRow& row) {
    return row.group == "all" && row.forecast == forecast;
  });
  if (found == evaluation.rows.end()) throw std::out_of_range(forecast);
  return *found;
}

// Times of one copy as they are, but for one platform, where they are `off` times as long.
OneCopyForecast one_copy_off(const std::string& platform, double off) {
  const ScalingTable& table = world_fit().table();
  OneCopyForecast forecast;
  forecast.model = "known";
  std::map<std::string, Eigen::VectorXd> times;
  for (size_t s = 0; s < table.machines.size(); ++s)
    times.emplace(table.machines[s].platform, table.log_alone_usual.col(static_cast<Eigen::Index>(s)));
  auto& predicted = forecast.forecast.predicted;
  predicted.resize(table.log_alone.rows(), static_cast<Eigen::Index>(times.size()));
  for (const auto& [id, column] : times) {
    predicted.col(static_cast<Eigen::Index>(forecast.platforms.size())) =
        column.array() + (id == platform ? std::log(off) : 0);
    forecast.platforms.push_back(id);
  }
  predicted.colwise() -= predicted.rowwise().mean();
  forecast.forecast.lower = predicted.array() - 0.01;
  forecast.forecast.upper = predicted.array() + 0.01;
  return forecast;
}

TEST(ScalingEvaluation, KnownTimesOfOneCopyAreAsGood) {
  const auto evaluation = evaluate_scaling(world_fit(), {one_copy_off("", 1)});
  ASSERT_TRUE(evaluation);
  EXPECT_EQ(evaluation->families, kFamilies);
  const Scores& whole = row_of(*evaluation, "whole model").relative;
  const Scores& forecast = row_of(*evaluation, "one copy's time by known, whole model").relative;
  EXPECT_LT(*whole.mape, 0.02);
  EXPECT_LT(*forecast.mape, *whole.mape + 0.01);  // of no known group
  EXPECT_EQ(whole.n, forecast.n);
  EXPECT_NEAR(*row_of(*evaluation, "one copy's time by known, x copies").relative.mape,
              *row_of(*evaluation, "one core x copies").relative.mape, 1e-9);
  EXPECT_GT(*forecast.coverage_90, 0.8);
}

TEST(ScalingEvaluation, WrongTimesOfOneCopyAreSeen) {
  const auto evaluation = evaluate_scaling(world_fit(), {one_copy_off("rome", 1.5)});
  ASSERT_TRUE(evaluation);
  const ScalingRow& row = row_of(*evaluation, "one copy's time by known, whole model");
  EXPECT_GT(*row.relative.mape, 0.1);
  EXPECT_LT(*row.absolute.coverage_90, 0.9);
  EXPECT_NE(to_text(*evaluation).find("one copy's time by known, whole model"), std::string::npos);
  EXPECT_EQ(to_json(*evaluation)["schema"], "perfcast.scaling_evaluation/1");
}

// What no platform of the forecast has is no entry, and no choice either.
TEST(ScalingEvaluation, PlatformsWithoutAForecastAreLeftOut) {
  OneCopyForecast some = one_copy_off("", 1);
  const auto rome =
      static_cast<size_t>(std::find(some.platforms.begin(), some.platforms.end(), "rome") - some.platforms.begin());
  some.platforms[rome] = "another";
  const auto evaluation = evaluate_scaling(world_fit(), {some});
  ASSERT_TRUE(evaluation);
  const ScalingRow& row = row_of(*evaluation, "one copy's time by known, whole model");
  EXPECT_EQ(6 * row.relative.n, 5 * row_of(*evaluation, "whole model").relative.n);
  EXPECT_GE(row.regret_median, 1);
}

TEST(ScalingEvaluation, OneFamilyIsTooFew) {
  const auto evaluation = evaluate_scaling(ScalingFit(scaling_world::world(1, 0)));
  ASSERT_FALSE(evaluation);
  EXPECT_EQ(evaluation.error().code, "too-few-families");
}

}  // namespace
}  // namespace perfcast::program
