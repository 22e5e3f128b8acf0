#include "program/evaluate/one_copy_forecast.h"

#include <map>
#include <mutex>

#include "base/parallel.h"
#include "base/unknown.h"

namespace perfcast::program {
namespace {

struct FamilyTask {
  size_t model;
  std::string family;
  std::vector<size_t> rows;  // of the scaling table
};

std::vector<size_t> rows_without(const TrainingTable& table, const std::string& family) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < table.programs.size(); ++i) {
    if (table.programs[i].family != family) rows.push_back(i);
  }
  return rows;
}

}  // namespace

Result<std::vector<OneCopyForecast>> forecast_one_copy(const ScalingTable& scaling, const TrainingTable& training,
                                                       const EvaluationOptions& options) {
  const Eigen::MatrixXd unknown =
      Eigen::MatrixXd::Constant(static_cast<Eigen::Index>(scaling.programs.size()),
                                static_cast<Eigen::Index>(training.platforms.size()), kUnknown);
  std::map<std::string, std::vector<size_t>> rows_of_family;
  for (size_t i = 0; i < scaling.programs.size(); ++i) rows_of_family[scaling.programs[i].family].push_back(i);
  std::vector<OneCopyForecast> forecasts;
  std::vector<FamilyTask> tasks;
  for (const std::string& model : options.models) {
    for (const auto& [family, rows] : rows_of_family) tasks.push_back({forecasts.size(), family, rows});
    forecasts.push_back({model, {}, {unknown, unknown, unknown}});
    for (const Platform& platform : training.platforms) forecasts.back().platforms.push_back(platform.id);
  }
  std::mutex progress;
  size_t done = 0;
  // Each task writes rows that no other writes.
  const Status status = parallel_for(tasks.size(), options.threads, [&](size_t t) -> Status {
    const FamilyTask& task = tasks[t];
    OneCopyForecast& into = forecasts[task.model];
    FoldOptions fold;
    fold.fit.seed = options.seed;
    fold.fit.inner_folds = options.inner_folds;
    fold.fit.settings = options.settings;
    std::vector<const Profile*> profiles;
    for (const size_t row : task.rows) profiles.push_back(&scaling.profiles[row]);
    const auto forecast =
        forecast_programs(training.with_programs(rows_without(training, task.family)), into.model, fold, profiles, {});
    if (!forecast) {
      Error error = forecast.error();
      error.where =
          "model " + into.model + ", without " + task.family + (error.where.empty() ? "" : ": " + error.where);
      return error;
    }
    for (size_t r = 0; r < task.rows.size(); ++r) {
      const auto row = static_cast<Eigen::Index>(task.rows[r]), from = static_cast<Eigen::Index>(r);
      into.forecast.predicted.row(row) = forecast->predicted.row(from);
      into.forecast.lower.row(row) = forecast->lower.row(from);
      into.forecast.upper.row(row) = forecast->upper.row(from);
    }
    const std::lock_guard<std::mutex> lock(progress);
    ++done;
    if (options.progress) {
      options.progress("times of one copy: " + std::to_string(done) + " of " + std::to_string(tasks.size()) +
                       " fits (" + into.model + ")");
    }
    return {};
  });
  if (!status) return status.error();
  return forecasts;
}

}  // namespace perfcast::program
