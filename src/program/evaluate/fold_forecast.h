#pragma once
// What one fold's model says about programs it was not fitted on.

#include <Eigen/Core>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/corpus/corpus.h"
#include "program/model/forecast/gaussian_conditioning.h"
#include "program/model/predictor.h"

namespace perfcast::program {

// Rows: the programs asked for; columns: the platforms of the training table (or as stated); log relative time.
struct FoldForecast {
  Eigen::MatrixXd predicted, lower, upper;
  // Of each row the platform that the model says is the fastest; -1, or empty: the least forecast.
  std::vector<int64_t> best = {};
};

struct FoldOptions {
  FitOptions fit;
  // Calibrate intervals on the training rows alone, by leaving out their families in turn: as many more fits as
  // fit.inner_folds says. Without, there are no intervals.
  bool intervals = true;
  int64_t reference = -1;  // platform; -1: the mean over the platforms
};

// Fits on `training` alone, then forecasts `profiles`. `measured`: per profile, platforms as columns of `training`;
// empty: nothing measured. Measurements need intervals: what they tell about other platforms is calibrated with them.
Result<FoldForecast> forecast_programs(const TrainingTable& training, const std::string& model,
                                       const FoldOptions& options, const std::vector<const Profile*>& profiles,
                                       const std::vector<std::vector<Measurement>>& measured);

// Forecasts platforms that have facts and no runs: the model is fitted on the columns `known` of `table`, and its
// forecasts there are combined by the facts. Rows: all programs; columns: all platforms, each row relative to the mean
// over the known ones that the program was measured on; only the columns of unknown platforms are forecasts, the others
// are what the model was fitted to reproduce.
Result<FoldForecast> forecast_platforms(const TrainingTable& table, const std::vector<size_t>& known,
                                        const std::vector<size_t>& unknown, const std::string& model,
                                        const FitOptions& options);

// The baseline without a model: each unknown platform runs as the known one with the nearest facts was measured to.
Eigen::MatrixXd nearest_platform_times(const TrainingTable& table, const std::vector<size_t>& known,
                                       const std::vector<size_t>& unknown);

}  // namespace perfcast::program
