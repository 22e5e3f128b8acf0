#include "program/model/forecast/gaussian_conditioning.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "learn/algebra/dense.h"

namespace perfcast::program {
namespace {

Gaussian two_platforms() {
  Gaussian prior;
  prior.mean = Eigen::Vector2d(0.2, -0.2);
  prior.covariance.resize(2, 2);
  prior.covariance << 0.04, -0.04, -0.04, 0.04;  // what one gains the other loses
  return prior;
}

TEST(Condition, TwoMeasurementsOfTwoPlatformsSayTheirDifference) {
  // y = m + z + b. The prior variance of z0 - z1 is 0.04 + 0.04 + 2 x 0.04 = 0.16, its surprise is
  // (1.0 - 0.4) - (0.2 + 0.2) = 0.2, the noise of the difference 2 x 0.1^2 = 0.02.
  const auto posterior = condition(two_platforms(), {{0, 1.0}, {1, 0.4}}, 0.1);
  ASSERT_TRUE(posterior);
  const double gain = 0.16 / (0.16 + 0.02);
  EXPECT_NEAR(posterior->mean(0) - posterior->mean(1), 0.4 + gain * 0.2, 1e-6);
  EXPECT_NEAR(posterior->mean.sum(), 0, 1e-9);
  const double variance = posterior->covariance(0, 0) + posterior->covariance(1, 1) - 2 * posterior->covariance(0, 1);
  EXPECT_NEAR(variance, 0.16 * (1 - gain), 1e-6);
}

TEST(Condition, AgreesWithAWidePriorOnTheOffset) {
  Random random(2);
  const Eigen::Index size = 6;
  const Eigen::MatrixXd root = Eigen::MatrixXd::NullaryExpr(size, size, [&] { return 0.2 * random.normal(); });
  Gaussian prior{Eigen::VectorXd::NullaryExpr(size, [&] { return random.normal(); }), root * root.transpose()};
  const std::vector<Measurement> measured = {{1, 3.1}, {4, 2.5}, {0, 2.9}};
  const auto posterior = condition(prior, measured, 0.05);
  ASSERT_TRUE(posterior);

  const double wide = 1e6;
  const std::vector<Eigen::Index> where = {1, 4, 0};
  Eigen::MatrixXd seen = prior.covariance(where, where);
  seen.array() += wide;
  seen.diagonal().array() += 0.05 * 0.05;
  const Eigen::MatrixXd gain = prior.covariance(Eigen::all, where) * inverse_positive_definite(seen);
  const Eigen::Vector3d surprise(3.1 - prior.mean(1), 2.5 - prior.mean(4), 2.9 - prior.mean(0));
  const Eigen::VectorXd mean = prior.mean + gain * surprise;
  const Eigen::MatrixXd covariance = prior.covariance - gain * prior.covariance(where, Eigen::all);
  EXPECT_LT((posterior->mean - mean).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LT((posterior->covariance - covariance).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(Condition, OneMeasurementSaysNothingAboutRelativeTimes) {
  const Gaussian prior = two_platforms();
  const auto posterior = condition(prior, {{0, 7.0}}, 0.015);
  ASSERT_TRUE(posterior);
  EXPECT_EQ(posterior->mean, prior.mean);
  EXPECT_EQ(posterior->covariance, prior.covariance);
  // But it tells how long the program runs: 0.2 is platform 0's relative time.
  EXPECT_DOUBLE_EQ(implied_log_seconds(*posterior, {{0, 7.0}}), 6.8);
}

TEST(Condition, ACommonShiftOfAllMeasurementsChangesNothingRelative) {
  const auto once = condition(two_platforms(), {{0, 1.0}, {1, 0.4}}, 0.015);
  const auto slower = condition(two_platforms(), {{0, 3.0}, {1, 2.4}}, 0.015);
  ASSERT_TRUE(once);
  ASSERT_TRUE(slower);
  EXPECT_LT((once->mean - slower->mean).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Condition, RefusesNonsense) {
  EXPECT_EQ(condition(two_platforms(), {{2, 1.0}}, 0.1).error().code, "bad-measurement");
  EXPECT_EQ(condition(two_platforms(), {{-1, 1.0}}, 0.1).error().code, "bad-measurement");
  EXPECT_EQ(condition(two_platforms(), {{0, 1.0}, {0, 1.1}}, 0.1).error().code, "bad-measurement");
  EXPECT_EQ(condition(two_platforms(), {{0, std::numeric_limits<double>::infinity()}}, 0.1).error().code,
            "bad-measurement");
}

TEST(ResidualCovariance, BorrowsFromKin) {
  std::vector<Platform> platforms(3);
  for (size_t j = 0; j < 3; ++j) {
    platforms[j].id = std::to_string(j);
    platforms[j].arch = "x86_64";
    platforms[j].vendor = j < 2 ? "AuthenticAMD" : "GenuineIntel";
    platforms[j].cpu_family = j < 2 ? 25 : 6;
    platforms[j].model = j < 2 ? 1 : 106;
  }
  Eigen::MatrixXd residuals(2, 3);
  residuals << 0.1, -0.1, 0.2, -0.1, 0.1, std::numeric_limits<double>::quiet_NaN();
  const Eigen::MatrixXd covariance = residual_covariance(residuals, Eigen::Vector2d(1, 1), platforms);
  const double variance = (0.01 + 0.01 + 0.04) / 3;
  EXPECT_NEAR(covariance(0, 0), 0.5 * 0.01 + 0.5 * variance + 0.0004, 1e-12);
  EXPECT_NEAR(covariance(0, 1), 0.5 * -0.01 + 0.5 * variance * 0.85, 1e-12);
  EXPECT_NEAR(covariance(0, 2), 0.5 * 0.02, 1e-12);
  EXPECT_NEAR(covariance(2, 2), 0.5 * 0.04 + 0.5 * variance + 0.0004, 1e-12);
}

TEST(RelativeDeviations, TakeTheCommonLevelOff) {
  // Three independent equal platforms: var(z - mean) = s^2 (1 - 1/3).
  const Eigen::VectorXd deviations = relative_deviations(0.09 * Eigen::MatrixXd::Identity(3, 3));
  EXPECT_NEAR(deviations(0), 0.3 * std::sqrt(2.0 / 3), 1e-12);
  // What all share is no relative uncertainty.
  EXPECT_NEAR(relative_deviations(Eigen::MatrixXd::Constant(3, 3, 0.5)).maxCoeff(), 0, 1e-7);
}

// Each pair of six platforms was measured on programs of its own, and moved oppositely there: more than six numbers can
// do at once.
TEST(ResidualCovariance, IsPositiveDefiniteWhereWhatIsObservedIsNot) {
  constexpr Eigen::Index kPlatforms = 6;
  std::vector<Platform> platforms(kPlatforms);
  for (size_t j = 0; j < platforms.size(); ++j) platforms[j].id = platforms[j].vendor = "v" + std::to_string(j);
  Eigen::MatrixXd residuals = Eigen::MatrixXd::Constant(15, kPlatforms, std::numeric_limits<double>::quiet_NaN());
  Eigen::Index row = 0;
  for (Eigen::Index a = 0; a < kPlatforms; ++a) {
    for (Eigen::Index b = a + 1; b < kPlatforms; ++b, ++row) {
      residuals(row, a) = 0.1;
      residuals(row, b) = -0.1;
    }
  }
  // As observed, the mean of all six would have a variance of (0.01 - 5 x 0.01) / 6.
  const Eigen::MatrixXd covariance = residual_covariance(residuals, Eigen::VectorXd::Ones(15), platforms);
  EXPECT_EQ(covariance, covariance.transpose());
  const Eigen::VectorXd variances = symmetric_eigen(covariance).values;
  EXPECT_NEAR(variances.minCoeff(), 0.02 * 0.02, 1e-12);
  // Other directions keep what they had: half of 0.01 + 0.01, half of 0.01 of their own, and the floor.
  EXPECT_NEAR(variances.maxCoeff(), 0.5 * 0.02 + 0.5 * 0.01 + 0.02 * 0.02, 1e-12);
  const auto posterior = condition({Eigen::VectorXd::Zero(kPlatforms), covariance}, {{0, 1.0}, {1, 2.0}}, 0.015);
  ASSERT_TRUE(posterior);
  EXPECT_GT(posterior->mean(1), posterior->mean(0));
  EXPECT_GE(symmetric_eigen(posterior->covariance).values.minCoeff(), -1e-12);
}

}  // namespace
}  // namespace perfcast::program
