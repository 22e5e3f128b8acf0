#include "program/model/fit/out_of_family.h"

#include <algorithm>
#include <optional>

#include "base/parallel.h"
#include "base/unknown.h"
#include "program/model/fit/fit_checkpoint.h"

namespace perfcast::program {

namespace {

FitOptions inner_options(const FitOptions& options, int64_t fold, int64_t folds) {
  FitOptions inner = options;
  inner.threads = 1;
  const std::string name = "fold " + std::to_string(fold + 1) + " of " + std::to_string(folds);
  inner.part += "/" + name;
  if (options.progress) {
    inner.progress = [name, progress = options.progress](const std::string& text) { progress(name + ": " + text); };
  }
  return inner;
}

// [test.size() x (J + 2)]: log RPV of the rows left out, how far the model's parts disagree on them, and the mean log
// seconds; NaN: not told.
Result<Eigen::MatrixXd> forecast_left_out(const MakePredictor& make, const TrainingTable& table,
                                          const std::vector<size_t>& train, const std::vector<size_t>& test,
                                          const FitOptions& options) {
  const auto rows = static_cast<Eigen::Index>(test.size());
  const auto platforms = static_cast<Eigen::Index>(table.platforms.size());
  if (auto kept = kept_forecasts(options, rows, platforms + 2)) return std::move(*kept);
  auto predictor = make();
  if (!predictor) return predictor.error();
  if (auto status = (*predictor)->fit(table.with_programs(train), options); !status) return status.error();
  std::vector<const Profile*> profiles;
  profiles.reserve(test.size());
  for (const size_t p : test) profiles.push_back(&table.profiles[p]);
  Eigen::MatrixXd forecasts = Eigen::MatrixXd::Constant(rows, platforms + 2, kUnknown);
  const Prediction prediction = (*predictor)->predict_with_disagreement(profiles);
  forecasts.leftCols(platforms) = prediction.log_rpv;
  forecasts.col(platforms) = prediction.disagreement;
  if (prediction.log_seconds.size() > 0) forecasts.col(platforms + 1) = prediction.log_seconds;
  if (auto status = keep_forecasts(options, forecasts); !status) return status.error();
  return forecasts;
}

}  // namespace

std::vector<int64_t> left_out_with(const Targets& targets, const FitOptions& options) {
  const int64_t groups = options.inner_folds > 0 ? std::min(std::max<int64_t>(options.inner_folds, 2), targets.families)
                                                 : targets.families;
  std::vector<int64_t> group;
  for (const int64_t family : targets.family) group.push_back(family % groups);
  return group;
}

Result<Prediction> predict_out_of_family(const MakePredictor& make, const TrainingTable& table,
                                         const FitOptions& options) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  if (targets->families < 2) {
    return Error{"too-few-families", "leaving one family out leaves nothing to train on", "",
                 "programs of at least two families"};
  }
  Prediction result;
  result.log_rpv = Eigen::MatrixXd::Zero(targets->log_rpv.rows(), targets->log_rpv.cols());
  result.disagreement = Eigen::VectorXd::Zero(targets->log_rpv.rows());
  result.log_seconds = Eigen::VectorXd::Constant(targets->log_rpv.rows(), kUnknown);
  const std::vector<int64_t> group = left_out_with(*targets, options);
  const int64_t groups = 1 + *std::max_element(group.begin(), group.end());
  const auto without = [&](size_t left_out) -> Status {
    const auto fold = static_cast<int64_t>(left_out);
    std::vector<size_t> train;
    std::vector<size_t> test;
    for (size_t p = 0; p < group.size(); ++p) (group[p] == fold ? test : train).push_back(p);
    const auto forecasts = forecast_left_out(make, table, train, test, inner_options(options, fold, groups));
    if (!forecasts) return forecasts.error();
    for (size_t i = 0; i < test.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(test[i]);
      const auto from = static_cast<Eigen::Index>(i);
      result.log_rpv.row(row) = forecasts->row(from).head(result.log_rpv.cols());
      result.disagreement(row) = (*forecasts)(from, result.log_rpv.cols());
      result.log_seconds(row) = (*forecasts)(from, result.log_rpv.cols() + 1);
    }
    return {};
  };
  if (auto status = parallel_for(static_cast<size_t>(groups), options.threads, without); !status) {
    return status.error();
  }
  return result;
}

}  // namespace perfcast::program
