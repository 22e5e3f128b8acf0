#include "program/model/forecast/calibration.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "base/unknown.h"
#include "learn/algebra/dense.h"
#include "learn/conformal/conformal.h"
#include "program/model/fit/out_of_family.h"
#include "program/model/test_world.h"

namespace perfcast::program {
namespace {

TEST(Conformal, CountsOneFamilyMoreThanItHas) {
  // 19 families with one score each: 0.9 x 20 = 18 of them must be covered.
  ConformalScores scores;
  scores.scores.resize(19, 1);
  for (Eigen::Index i = 0; i < 19; ++i) {
    scores.scores(i, 0) = static_cast<double>(i + 1);
    scores.family.push_back(i);
  }
  EXPECT_EQ(conformal_quantile(scores, 0.9), 18);
}

TEST(Conformal, FamiliesWeighTheSameWhateverTheirSize) {
  // A family of 8 programs with large scores is one of ten; 0.9 x 11 = 9.9 families must be covered.
  ConformalScores scores;
  scores.scores = Eigen::MatrixXd::Ones(17, 1);
  for (int64_t i = 0; i < 17; ++i) scores.family.push_back(i < 8 ? 0 : i);
  for (Eigen::Index i = 0; i < 8; ++i) scores.scores(i, 0) = 10 + static_cast<double>(i);
  EXPECT_EQ(conformal_quantile(scores, 0.9), 17);  // all but a tenth of the large family
  EXPECT_EQ(conformal_quantile(scores, 0.8), 1);   // 8.8 of the 9 small ones
}

TEST(Conformal, IgnoresWhatIsAbsent) {
  ConformalScores scores;
  scores.scores.resize(1, 3);
  scores.scores << 1, kUnknown, 2;
  scores.family = {0};
  EXPECT_EQ(conformal_quantile(scores, 0.4), 2);
  scores.scores.setConstant(kUnknown);
  EXPECT_TRUE(std::isnan(conformal_quantile(scores, 0.4)));
}

TEST(Conformal, CoversNewFamiliesAsOftenAsPromised) {
  // Families differ in how large their errors are. Over many draws, a new family's entries must be covered 90% of the
  // time on average, and not much more.
  Random random(7);
  double covered = 0;
  const int trials = 400;
  for (int trial = 0; trial < trials; ++trial) {
    ConformalScores scores;
    scores.scores.resize(40, 10);
    const auto draw = [&random](double scale) { return std::abs(scale * random.normal()); };
    for (Eigen::Index family = 0; family < 40; ++family) {
      const double scale = std::exp(0.4 * random.normal());
      scores.family.push_back(family);
      for (Eigen::Index j = 0; j < 10; ++j) scores.scores(family, j) = draw(scale);
    }
    const double quantile = conformal_quantile(scores, 0.9);
    const double scale = std::exp(0.4 * random.normal());
    for (int j = 0; j < 10; ++j) covered += draw(scale) <= quantile ? 0.1 : 0;
  }
  EXPECT_NEAR(covered / trials, 0.915, 0.02);
}

TEST(WeightedQuantile, TakesTheValueAtWhichTheShareIsReached) {
  EXPECT_EQ(weighted_quantile({3, 1, 2}, {1, 1, 1}, 0.5), 2);
  EXPECT_EQ(weighted_quantile({3, 1, 2}, {1, 8, 1}, 0.5), 1);
  EXPECT_EQ(weighted_quantile({3, 1, 2}, {1, 1, 1}, 1), 3);
  EXPECT_TRUE(std::isnan(weighted_quantile({}, {}, 0.5)));
  for (size_t n = 1; n < 40; ++n) {
    std::vector<double> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = static_cast<double>((7 * i) % 11);
    for (const double share : {0.0, 0.1, 0.5, 0.9, 1.0}) {
      EXPECT_EQ(unweighted_quantile(values, share), weighted_quantile(values, std::vector<double>(n, 1), share))
          << n << share;
    }
  }
  EXPECT_TRUE(std::isnan(unweighted_quantile({}, 0.5)));
}

TEST(ExpectedResiduals, GrowWithDisagreementFromAFloor) {
  Calibration calibration;
  calibration.platform_scale = Eigen::Vector2d(0.1, 0.2);
  const Eigen::MatrixXd expected = expected_residuals(calibration, Eigen::Vector3d(0, 0.08, 0.32));
  EXPECT_NEAR(expected(0, 0), 0.1 * std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(expected(1, 1), 0.2, 1e-12);
  EXPECT_NEAR(expected(2, 0), 0.2, 1e-12);
}

TEST(IntervalHalfWidths, WhatIsNotKnownOfAPlatformStaysWhereThePartsAgree) {
  Calibration calibration;
  calibration.multiple = 2;
  calibration.platform_scale = Eigen::Vector4d(0.1, 0.1, 0.1, 0.1);
  const Eigen::Vector2d disagreement(0, 0.08);
  const Eigen::MatrixXd without = interval_half_widths(calibration, disagreement);
  EXPECT_NEAR((without - 2 * expected_residuals(calibration, disagreement)).cwiseAbs().maxCoeff(), 0, 1e-12);
  calibration.own_half_width = Eigen::Vector4d(0, 0.4, 0, 0);
  const Eigen::MatrixXd with = interval_half_widths(calibration, disagreement);
  // About the mean over the four, which is off by a quarter of it.
  for (Eigen::Index program = 0; program < 2; ++program) {
    EXPECT_NEAR(with(program, 1), std::hypot(0.3, without(program, 1)), 1e-12);
    EXPECT_NEAR(with(program, 0), std::hypot(0.1, without(program, 0)), 1e-12);
  }
}

TEST(Calibrate, CoversTheResidualsItSaw) {
  const TrainingTable table =
      testing_world::additive_world({.programs = 60, .platforms = 5, .families = 30, .noise_log = 0.1}).table;
  const auto targets = make_targets(table);
  ASSERT_TRUE(targets);
  const auto predictions = predict_out_of_family([] { return make_predictor("mean"); }, table, {});
  ASSERT_TRUE(predictions);
  const Calibration calibration = calibrate(*predictions, *targets, table, 0.9);
  const Eigen::MatrixXd half = calibration.multiple * expected_residuals(calibration, predictions->disagreement);
  const Eigen::MatrixXd residuals = (predictions->log_rpv - targets->log_rpv).cwiseAbs();
  const double covered = (residuals.array() <= half.array()).cast<double>().mean();
  EXPECT_GE(covered, 0.9);
  EXPECT_LE(covered, 0.97);
  EXPECT_EQ(calibration.residual_covariance.rows(), 5);
  EXPECT_GT(symmetric_eigen(calibration.residual_covariance).values.minCoeff(), 0);
}

}  // namespace
}  // namespace perfcast::program
