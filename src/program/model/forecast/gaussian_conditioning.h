#pragma once
// What a few measured times say about all the other platforms.

#include <Eigen/Core>
#include <vector>

#include "base/result.h"
#include "learn/gaussian/gaussian.h"
#include "program/corpus/corpus.h"

namespace perfcast::program {

struct Measurement {
  int64_t platform = 0;  // index
  double log_seconds = 0;
};

// Prior: log relative time of one program on J platforms. Measurements share one unknown offset (how long the program
// runs on the average platform), about which nothing is assumed, and each carries independent noise of `noise_log`.
// So a single measurement says nothing about relative times, and two say what their difference says.
// "bad-measurement" where a platform is out of range, named twice, or a time is not finite.
Result<Gaussian> condition(const Gaussian& prior, const std::vector<Measurement>& measured, double noise_log);

// The offset those measurements imply: log seconds of RPV 1 under the posterior mean.
double implied_log_seconds(const Gaussian& posterior, const std::vector<Measurement>& measured);

// Residuals [P x J] (NaN: absent) with row weights -> covariance about 0. Few programs say little about so many pairs
// of platforms: half of it is borrowed from kinship (same core design, same line of designs, same cloud provider,
// itself). Symmetric, and in every direction at least a variance of 0.02^2: positive definite.
Eigen::MatrixXd residual_covariance(const Eigen::MatrixXd& residuals, const Eigen::VectorXd& weights,
                                    const std::vector<Platform>& platforms);

// Standard deviations of log relative times once the common level is taken off: of z - mean(z) under `covariance`.
Eigen::VectorXd relative_deviations(const Eigen::MatrixXd& covariance);

// Of a measured log time: run-to-run and server-to-server.
inline constexpr double kMeasurementNoiseLog = 0.015;

}  // namespace perfcast::program
