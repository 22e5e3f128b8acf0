#pragma once
// From out-of-family predictions to intervals and verdicts on new programs.

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "program/corpus/corpus.h"
#include "program/model/fit/targets.h"
#include "program/model/predictor.h"

namespace perfcast::program {

// An entry's residual (log RPV) is expected to be about platform_scale x sqrt(disagreement / 0.08), where disagreement,
// of the model's parts on this program, counts as at least 0.04. Intervals are a multiple of that, and of a platform
// that joined a trained model as much wider as little is known of the platform itself, however well the parts agree.
struct Calibration {
  double coverage = 0.9;
  double multiple = 0;                  // conformal quantile of |residual| / expected size over families
  Eigen::VectorXd platform_scale;       // J
  Eigen::MatrixXd residual_covariance;  // J x J of out-of-family residuals, shrunk towards kinship of platforms
  Eigen::MatrixXd residuals;            // P x J out-of-family residuals, NaN: not measured
  Eigen::VectorXd own_half_width;       // J, log, of the platforms themselves, added in squares; empty: 0 of all
  double disagreement_limit = 0;        // disagreement above it: out of distribution
  // Half width, log, of the seconds that the model itself says: `coverage` of the training programs' entries, each
  // program left out with its family, have no larger error; families weigh the same. Absent: it says relative times
  // only.
  std::optional<double> seconds_half_width = std::nullopt;
};

Calibration calibrate(const Prediction& predictions, const Targets& targets, const TrainingTable& table,
                      double coverage);

// [N x J] expected size of residuals; disagreement: [N].
Eigen::MatrixXd expected_residuals(const Calibration& calibration, const Eigen::VectorXd& disagreement);

// [N x J] half widths, log, of the intervals.
Eigen::MatrixXd interval_half_widths(const Calibration& calibration, const Eigen::VectorXd& disagreement);

// The value below which `share` of the total weight lies (the next larger one at the edge).
double weighted_quantile(const std::vector<double>& values, const std::vector<double>& weights, double share);
// The same of equal weights.
double unweighted_quantile(std::vector<double> values, double share);

}  // namespace perfcast::program
