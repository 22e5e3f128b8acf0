#include "program/evaluate/split_forecasts.h"

#include <cmath>
#include <mutex>

#include "base/json.h"
#include "base/parallel.h"
#include "base/unknown.h"
#include "program/evaluate/noise_floor.h"

namespace perfcast::program {
namespace {

struct FoldTask {
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
    const Eigen::MatrixXd nothing = Eigen::MatrixXd::Constant(log_times_.rows(), log_times_.cols(), kUnknown);
    const std::vector<int64_t> none(table_.programs.size(), -1);
    forecasts_.assign(models_.size(),
                      std::vector<FoldForecast>(repetitions_.size(), {nothing, nothing, nothing, none}));
    std::vector<FoldTask> tasks;
    for (size_t m = 0; m < models_.size(); ++m) {
      for (size_t r = 0; r < repetitions_.size(); ++r) {
        for (size_t f = 0; f < repetitions_[r].folds.size(); ++f) tasks.push_back({m, r, f});
      }
    }
    std::mutex progress;
    size_t done = 0;
    const Status status = parallel_for(tasks.size(), options_.threads, [&](size_t i) {
      Status forecast = named(forecast_fold(tasks[i]), tasks[i]);
      const std::lock_guard<std::mutex> lock(progress);
      ++done;
      if (options_.progress) {
        options_.progress("evaluating: " + std::to_string(done) + " of " + std::to_string(tasks.size()) + " fits (" +
                          models_[tasks[i].model] + ")");
      }
      return forecast;
    });
    if (!status) return status.error();
    return std::move(forecasts_);
  }

 private:
  Status named(const Status& status, const FoldTask& task) const {
    if (status) return status;
    Error error = status.error();
    error.where = "model " + models_[task.model] + ", fold without " +
                  repetitions_[task.repetition].folds[task.fold].left_out +
                  (error.where.empty() ? "" : ": " + error.where);
    return error;
  }

  // Each task writes entries that no other task writes.
  Status forecast_fold(const FoldTask& task) {
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
    if (parts_platforms(options_.split)) {
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
      into.best[fold.test_programs[i]] = forecast->best[i];
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

Result<std::vector<std::vector<FoldForecast>>> forecast_splits(const TrainingTable& table,
                                                               const EvaluationOptions& options,
                                                               const std::vector<std::string>& models,
                                                               const std::vector<Repetition>& repetitions,
                                                               int64_t reference) {
  return SplitForecaster(table, options, models, repetitions, reference).run();
}

}  // namespace perfcast::program
