#include "learn/gaussian/gaussian.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

// Two variables of variance 4 that share half of it.
Gaussian pair_of() {
  Gaussian prior{Eigen::Vector2d(1, 10), Eigen::Matrix2d()};
  prior.covariance << 4, 2, 2, 4;
  return prior;
}

TEST(Gaussian, AnObservationMovesWhatVariesWithIt) {
  const Gaussian prior = pair_of();
  const Eigen::MatrixXd gain = gain_of(prior.covariance, {0}, 0);
  EXPECT_EQ(gain(0, 0), 1);
  EXPECT_EQ(gain(1, 0), 0.5);
  const Gaussian posterior = updated(prior, {0}, gain, Eigen::VectorXd::Constant(1, 3));
  EXPECT_EQ(posterior.mean, Eigen::Vector2d(4, 11.5));
  EXPECT_EQ(posterior.covariance(0, 0), 0);
  EXPECT_EQ(posterior.covariance(0, 1), 0);
  EXPECT_EQ(posterior.covariance(1, 1), 3);
}

TEST(Gaussian, NoiseMakesAnObservationSayLess) {
  const Eigen::MatrixXd gain = gain_of(pair_of().covariance, {1}, 4);
  EXPECT_DOUBLE_EQ(gain(0, 0), 0.25);
  EXPECT_DOUBLE_EQ(gain(1, 0), 0.5);
}

}  // namespace
}  // namespace perfcast
