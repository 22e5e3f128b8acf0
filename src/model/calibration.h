#pragma once
// From out-of-family predictions to intervals and verdicts on new programs.

#include <Eigen/Dense>
#include <map>
#include <string>
#include <vector>

#include "corpus/corpus.h"
#include "model/training.h"

namespace perfcast {

// An entry's residual (log RPV) is expected to be about
//   sqrt(platform_scale_j^2 + 2 disagreement_pj^2)
// where disagreement is the standard deviation over the model's parts. Intervals are a multiple of that.
struct Calibration {
  double coverage = 0.9;
  // Conformal quantile of |residual| / expected size over families: overall (key "all") and per program group.
  std::map<std::string, double> multiple;
  Eigen::VectorXd platform_scale;       // J
  Eigen::MatrixXd residual_covariance;  // J x J of out-of-family residuals, shrunk towards kinship of platforms
  double disagreement_limit = 0;        // mean disagreement of a profile above it: out of distribution
};

Calibration calibrate(const OutOfFamily& predictions, const Targets& targets, const TrainingTable& table,
                      double coverage);

// [N x J] expected size of residuals.
Eigen::MatrixXd expected_residuals(const Calibration& calibration, const Eigen::MatrixXd& disagreement);

// The value below which `share` of the total weight lies (the next larger one at the edge).
double weighted_quantile(const std::vector<double>& values, const std::vector<double>& weights, double share);

}  // namespace perfcast
