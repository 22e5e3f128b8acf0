#include "program/evaluate/scored_entries.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/unknown.h"

namespace perfcast::program {
namespace {

// Each of three platforms left out in turn.
std::vector<Fold> leave_one_out() {
  std::vector<Fold> folds(3);
  for (size_t j = 0; j < 3; ++j) {
    for (size_t k = 0; k < 3; ++k) (k == j ? folds[j].test_platforms : folds[j].train_platforms).push_back(k);
  }
  return folds;
}

// Forecasts that are `off` from the measured times, each column relative to the mean over the other two.
FoldForecast forecast_of(const Eigen::MatrixXd& log_times, const Eigen::MatrixXd& off) {
  FoldForecast forecast;
  forecast.predicted = log_times + off;
  for (Eigen::Index j = 0; j < 3; ++j) {
    forecast.predicted.col(j) -= (log_times.rowwise().sum() - log_times.col(j)) / 2;
  }
  forecast.lower = forecast.predicted.array() - 0.5;
  forecast.upper = forecast.predicted.array() + 0.25;
  return forecast;
}

TEST(OnOneScale, DifferencesAreThoseOfLogTimes) {
  const Eigen::MatrixXd log_times = Eigen::RowVector3d(0, std::log(2), std::log(4));
  const Eigen::MatrixXd off = Eigen::RowVector3d(0.3, 0, -0.6);
  const ScoreInput input = on_one_scale(log_times, leave_one_out(), forecast_of(log_times, off));
  // Relative to its own fold's mean, the last column would be 1.5 ln 2 from the middle one, not ln 2.
  const Eigen::RowVector3d truth(-std::log(2), 0, std::log(2));
  EXPECT_LT((input.truth - truth).cwiseAbs().maxCoeff(), 1e-14);
  // A third of an error moves the mean along.
  EXPECT_LT((input.predicted - truth - off * 2 / 3).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_TRUE((input.predicted - input.lower).isApproxToConstant(0.5 * 2 / 3));
  EXPECT_TRUE((input.upper - input.predicted).isApproxToConstant(0.25 * 2 / 3));
}

TEST(OnOneScale, RightForecastsOfSeveralPlatformsEqualTheTruth) {
  const Eigen::MatrixXd log_times = Eigen::RowVector3d(0, 3, 6);
  Fold fold;
  fold.train_platforms = {0};
  fold.test_platforms = {1, 2};
  FoldForecast forecast{Eigen::RowVector3d(kUnknown, 3, 6), {}, {}};
  const ScoreInput input = on_one_scale(log_times, {fold}, forecast);
  EXPECT_EQ(input.truth, Eigen::MatrixXd(Eigen::RowVector3d(-3, 0, 3)));
  EXPECT_TRUE(std::isnan(input.predicted(0, 0)));
  EXPECT_EQ(input.predicted(0, 1), 0);
  EXPECT_EQ(input.predicted(0, 2), 3);
}

TEST(OnOneScale, RegretAndTheFivePercentOfPairsAreTrue) {
  // Times of 100, 104 and 200: the first two are within 5%, which a stretch by 3/2 would hide.
  const Eigen::MatrixXd log_times = Eigen::RowVector3d(std::log(100), std::log(104), std::log(200));
  const Eigen::MatrixXd off = Eigen::RowVector3d(1.5, 1.5, 0);  // the slowest is forecast to be the fastest
  ScoreInput input = on_one_scale(log_times, leave_one_out(), forecast_of(log_times, off));
  input.families = {"f"};
  const Scores scores = score(input);
  EXPECT_NEAR(*scores.regret, 2, 1e-12);      // 200 instead of 100
  EXPECT_NEAR(*scores.pair_order, 0, 1e-12);  // two pairs, both wrong; 100 and 104 are none
  EXPECT_NEAR(*scores.mae_log, 2.0 / 3, 1e-12);
}

// A mean over the others that came from measured times would put them in the reverse order.
TEST(OnOneScale, ForecastsThatKnowNothingHaveNoOrder) {
  const Eigen::MatrixXd log_times = Eigen::RowVector3d(0, std::log(2), std::log(4));
  ScoreInput input = on_one_scale(log_times, leave_one_out(), {Eigen::MatrixXd::Zero(1, 3), {}, {}});
  input.families = {"f"};
  EXPECT_EQ(*score(input).pair_order, 0.5);
}

TEST(OnOneScale, LeavesOutWhatNoFoldKnows) {
  Eigen::MatrixXd log_times(2, 3);
  log_times << 1, kUnknown, kUnknown, 1, 3, kUnknown;
  const ScoreInput input = on_one_scale(log_times, leave_one_out(), {Eigen::MatrixXd::Constant(2, 3, 1), {}, {}});
  EXPECT_TRUE(std::isnan(input.predicted(0, 0)));  // measured nowhere else: relative to nothing
  EXPECT_EQ(input.predicted(1, 0), 0.5);           // the mean of two platforms moves by half of it
  EXPECT_EQ(input.predicted(1, 1), 0.5);
  EXPECT_EQ(input.truth(1, 0), -1);
  EXPECT_EQ(input.truth(1, 1), 1);
  EXPECT_TRUE(std::isnan(input.truth(0, 1)));
  EXPECT_EQ(input.lower.size(), 0);
}

TEST(LeaveOutMeasured, TakesEntriesOutOfTheTruth) {
  ScoreInput input;
  input.truth = input.predicted = Eigen::MatrixXd::Zero(2, 4);
  Repetition repetition;
  repetition.folds.resize(2);
  repetition.folds[0].test_programs = {0};
  repetition.folds[1].test_programs = {1};
  repetition.measured = {{1, 2}, {}};
  leave_out_measured(repetition, 2, input);
  EXPECT_TRUE(std::isnan(input.truth(0, 1)));
  EXPECT_EQ(input.complete, (std::vector<int64_t>{3, 4}));  // the reference is no sample anyway
  input.families = {"a", "b"};
  const ScoreInput second = rows_of(input, {1});
  EXPECT_EQ(second.families, std::vector<std::string>{"b"});
  EXPECT_EQ(second.complete, std::vector<int64_t>{4});
}

}  // namespace
}  // namespace perfcast::program
