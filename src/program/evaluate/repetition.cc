#include "program/evaluate/repetition.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "program/evaluate/measured_choice.h"
#include "program/evaluate/noise_floor.h"

namespace perfcast::program {
namespace {

// Shrinkage of the training covariance that platforms to measure are chosen by.
constexpr double kCovarianceShrinkage = 0.1;
// A platform is worth measuring on only where most training programs were.
constexpr double kMeasuredCoverage = 0.8;
constexpr double kMeasuredNoiseLog = 0.03;

Eigen::MatrixXd centered(Eigen::MatrixXd values) {
  for (int64_t row = 0; row < values.rows(); ++row) {
    double sum = 0;
    int64_t present = 0;
    for (int64_t column = 0; column < values.cols(); ++column) {
      if (std::isnan(values(row, column))) continue;
      sum += values(row, column);
      ++present;
    }
    if (present > 0) values.row(row).array() -= sum / static_cast<double>(present);
  }
  return values;
}

std::vector<int64_t> choose_measured(const TrainingTable& table, const EvaluationOptions& options, const Fold& fold) {
  if (options.measured <= 0) return {};
  const Eigen::MatrixXd rpv = centered(log_times(table.with_programs(fold.train_programs)));
  std::map<std::string, double> programs_of;
  for (const size_t p : fold.train_programs) ++programs_of[table.programs[p].family];
  Eigen::VectorXd weights(rpv.rows());
  for (size_t i = 0; i < fold.train_programs.size(); ++i) {
    weights(static_cast<int64_t>(i)) = 1 / std::sqrt(programs_of[table.programs[fold.train_programs[i]].family]);
  }
  std::vector<bool> allowed;
  for (int64_t j = 0; j < rpv.cols(); ++j) {
    const auto present = static_cast<double>(rpv.col(j).array().isFinite().count());
    allowed.push_back(present >= kMeasuredCoverage * static_cast<double>(rpv.rows()));
  }
  const Eigen::MatrixXd covariance = weighted_covariance(rpv, weights, kCovarianceShrinkage);
  return most_telling_platforms(covariance, options.measured, allowed, kMeasuredNoiseLog);
}

}  // namespace

Result<std::vector<Repetition>> make_repetitions(const TrainingTable& table, const EvaluationOptions& options) {
  std::vector<Repetition> repetitions;
  for (int64_t i = 0; i < std::max<int64_t>(1, options.seeds); ++i) {
    Repetition repetition;
    repetition.seed = options.seed + static_cast<uint64_t>(i);
    repetition.folds = make_folds(table, options.split, options.folds, repetition.seed);
    if (repetition.folds.size() < 2) {
      return Error{"empty-corpus", "there is too little to leave out under the split " + to_string(options.split),
                   "--split", "at least two programs, families or platforms"};
    }
    if (options.holdout) repetition.folds.resize(1);
    for (const Fold& fold : repetition.folds) repetition.measured.push_back(choose_measured(table, options, fold));
    repetitions.push_back(std::move(repetition));
  }
  return repetitions;
}

}  // namespace perfcast::program
