#include "program/model/weightless/integer_forecast.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "program/model/test_world.h"
#include "program/model/weightless/lut_predictor.h"

namespace perfcast::program {
namespace {

using testing_world::additive_world;

// Log RPV of the network of integers, from a profile.
Eigen::RowVectorXd times_of(const IntegerForecast& forecast, const Profile& profile) {
  std::vector<float> row = forecast.row(profile);
  for (size_t i = 0; i < row.size(); ++i) {
    if (std::isnan(row[i])) row[i] = forecast.fill[i];
  }
  const std::vector<int32_t> sums = forecast.network.sums(row);
  Eigen::RowVectorXd times(static_cast<Eigen::Index>(sums.size()));
  for (size_t o = 0; o < sums.size(); ++o) times(static_cast<Eigen::Index>(o)) = forecast.network.value_of(sums[o], o);
  return times;
}

TEST(IntegerForecast, SaysWhatTheModelSays) {
  auto world = additive_world({.programs = 30, .platforms = 5, .families = 15});
  // Some counters are missing in some programs.
  for (size_t i = 0; i < world.table.profiles.size(); i += 3)
    world.table.profiles[i].metrics.erase(world.table.profiles[i].metrics.begin());
  for (const char* training : {"boosted", "gradient"}) {
    LutPredictor predictor;
    ASSERT_TRUE(predictor.configure({{"training", training},
                                     {"networks", 3},
                                     {"boosted", {{"tables", 60}}},
                                     {"gradient", {{"luts", {40, 24}}, {"epochs", 8}}}},
                                    "test"));
    ASSERT_TRUE(predictor.fit(world.table, {.seed = 1, .threads = 1}));
    const auto all = predictor.as_integers(IntegerTask::kTimes, {});
    const auto some = predictor.as_integers(IntegerTask::kTimes, {3, 1});
    ASSERT_TRUE(all && some) << all.error().message;
    EXPECT_EQ(some->platforms, (std::vector<int64_t>{3, 1}));
    const auto profiles = profiles_of(world.table);
    const Eigen::MatrixXd expected = predictor.predict(profiles);
    for (size_t i = 0; i < profiles.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      EXPECT_LT((times_of(*all, *profiles[i]) - expected.row(row)).cwiseAbs().maxCoeff(), 0.01) << training << i;
      const Eigen::RowVectorXd two = times_of(*some, *profiles[i]);
      EXPECT_NEAR(two(0), expected(row, 3), 0.01);
      EXPECT_NEAR(two(1), expected(row, 1), 0.01);
    }
  }
}

TEST(IntegerForecast, VotesAsTheClassifier) {
  const auto world = additive_world({.programs = 30, .platforms = 4, .families = 15});
  LutPredictor predictor;
  ASSERT_TRUE(
      predictor.configure({{"networks", 1}, {"boosted", {{"tables", 10}}}, {"best", {{"epochs", 10}}}}, "test"));
  ASSERT_TRUE(predictor.fit(world.table, {.seed = 1, .threads = 1}));
  const auto profiles = profiles_of(world.table);
  const Prediction expected = predictor.predict_with_disagreement(profiles);
  const auto all = predictor.as_integers(IntegerTask::kBestPlatform, {});
  const auto two = predictor.as_integers(IntegerTask::kBestPlatform, {2, 0});
  ASSERT_TRUE(all && two);
  EXPECT_EQ(two->network.outputs(), 2U);
  for (size_t i = 0; i < profiles.size(); ++i) {
    const std::vector<float> row = all->row(*profiles[i]);
    EXPECT_EQ(static_cast<int64_t>(all->network.best(row)), expected.best[i]);
    const auto votes = all->network.sums(row), of_two = two->network.sums(two->row(*profiles[i]));
    EXPECT_EQ(of_two, (std::vector<int32_t>{votes[2], votes[0]}));
  }
}

TEST(IntegerForecast, SaysWhatCanNotBe) {
  const auto world = additive_world({.programs = 16, .platforms = 4, .families = 8});
  LutPredictor predictor;
  ASSERT_TRUE(
      predictor.configure({{"networks", 1}, {"boosted", {{"tables", 5}}}, {"best", {{"most_platforms", 0}}}}, "test"));
  ASSERT_TRUE(predictor.fit(world.table, {.seed = 1, .threads = 1}));
  EXPECT_EQ(predictor.as_integers(IntegerTask::kTimes, {4}).error().code, "unknown-platform");
  EXPECT_EQ(predictor.as_integers(IntegerTask::kBestPlatform, {}).error().code, "not-exportable");
  const auto knn = make_predictor("knn");
  EXPECT_EQ((*knn)->as_integers(IntegerTask::kTimes, {}).error().code, "not-exportable");
}

}  // namespace
}  // namespace perfcast::program
