#include "evaluate/split_forecasts.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "evaluate/measured_choice.h"

namespace perfcast {
namespace {

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
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

struct Task {
  size_t model, repetition, fold;
};

class SplitForecaster {
 public:
  SplitForecaster(const TrainingTable& table, const EvaluationOptions& options, const std::vector<std::string>& models,
                  const std::vector<Repetition>& repetitions, int64_t reference)
      : table_(table),
        options_(options),
        models_(models),
        repetitions_(repetitions),
        reference_(reference),
        log_times_(log_times(table)) {}

  Result<std::vector<std::vector<FoldForecast>>> run() {
    const auto rows = static_cast<int64_t>(table_.programs.size()),
               columns = static_cast<int64_t>(table_.platforms.size());
    const Eigen::MatrixXd nothing = Eigen::MatrixXd::Constant(rows, columns, kAbsent);
    forecasts_.assign(models_.size(), std::vector<FoldForecast>(repetitions_.size(), {nothing, nothing, nothing}));
    std::vector<Task> tasks;
    for (size_t m = 0; m < models_.size(); ++m) {
      for (size_t r = 0; r < repetitions_.size(); ++r) {
        for (size_t f = 0; f < repetitions_[r].folds.size(); ++f) tasks.push_back({m, r, f});
      }
    }
    std::vector<std::optional<Error>> errors(tasks.size());
    std::atomic<size_t> next = 0, done = 0;
    std::atomic<bool> failed = false;
    std::mutex progress;
    const auto work = [&] {
      for (size_t i = next++; i < tasks.size() && !failed; i = next++) {
        if (Status status = forecast_fold(tasks[i]); !status) {
          errors[i] = status.error();
          failed = true;
        }
        const size_t finished = ++done;
        if (options_.progress) {
          const std::lock_guard<std::mutex> lock(progress);
          options_.progress("evaluating: " + std::to_string(finished) + " of " + std::to_string(tasks.size()) +
                            " fits (" + models_[tasks[i].model] + ")");
        }
      }
    };
    std::vector<std::thread> threads;
    for (int t = 1; t < options_.threads; ++t) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (!errors[i]) continue;
      Error error = *errors[i];
      const Fold& fold = repetitions_[tasks[i].repetition].folds[tasks[i].fold];
      error.where = "model " + models_[tasks[i].model] + ", fold without " + fold.left_out +
                    (error.where.empty() ? "" : ": " + error.where);
      return error;
    }
    return std::move(forecasts_);
  }

 private:
  // Each task writes entries that no other task writes.
  Status forecast_fold(const Task& task) {
    const Repetition& repetition = repetitions_[task.repetition];
    const Fold& fold = repetition.folds[task.fold];
    FoldForecast& into = forecasts_[task.model][task.repetition];
    FoldOptions fold_options;
    fold_options.fit.seed = repetition.seed;
    fold_options.fit.inner_folds = options_.inner_folds;
    fold_options.fit.settings = options_.settings;
    if (!options_.intervals) fold_options.fit.checkpoint = options_.checkpoint;
    fold_options.fit.part = "scores/" + models_[task.model] + "/seed " + std::to_string(repetition.seed) + "/fold " +
                            std::to_string(task.fold);
    fold_options.intervals = options_.intervals;
    fold_options.reference = reference_;
    if (options_.split == Split::kPlatform) {
      auto forecast =
          forecast_platforms(table_, fold.train_platforms, fold.test_platforms, models_[task.model], fold_options.fit);
      if (!forecast) return forecast.error();
      for (const size_t j : fold.test_platforms) {
        const auto column = static_cast<int64_t>(j);
        into.predicted.col(column) = forecast->predicted.col(column);
        into.lower.col(column) = forecast->lower.col(column);
        into.upper.col(column) = forecast->upper.col(column);
      }
      return {};
    }
    const TrainingTable training = table_.with_programs(fold.train_programs);
    std::vector<const Profile*> profiles;
    std::vector<std::vector<Measurement>> measured;
    for (const size_t p : fold.test_programs) {
      profiles.push_back(&table_.profiles[p]);
      if (options_.measured <= 0) continue;
      measured.emplace_back();
      for (const int64_t column : repetition.measured[task.fold]) {
        const double log_seconds = log_times_(static_cast<int64_t>(p), column);
        if (!std::isnan(log_seconds)) measured.back().push_back({column, log_seconds});
      }
    }
    auto forecast = forecast_programs(training, models_[task.model], fold_options, profiles, measured);
    if (!forecast) return forecast.error();
    for (size_t i = 0; i < fold.test_programs.size(); ++i) {
      const auto row = static_cast<int64_t>(fold.test_programs[i]), from = static_cast<int64_t>(i);
      into.predicted.row(row) = forecast->predicted.row(from);
      into.lower.row(row) = forecast->lower.row(from);
      into.upper.row(row) = forecast->upper.row(from);
    }
    return {};
  }

  const TrainingTable& table_;
  const EvaluationOptions& options_;
  const std::vector<std::string>& models_;
  const std::vector<Repetition>& repetitions_;
  const int64_t reference_;
  const Eigen::MatrixXd log_times_;
  std::vector<std::vector<FoldForecast>> forecasts_;
};

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

Result<std::vector<std::vector<FoldForecast>>> forecast_splits(const TrainingTable& table,
                                                               const EvaluationOptions& options,
                                                               const std::vector<std::string>& models,
                                                               const std::vector<Repetition>& repetitions,
                                                               int64_t reference) {
  return SplitForecaster(table, options, models, repetitions, reference).run();
}

}  // namespace perfcast
