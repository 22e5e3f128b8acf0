#include "program/evaluate/fold_forecast.h"

#include <cmath>
#include <memory>

#include "base/unknown.h"
#include "program/evaluate/platform_transfer.h"
#include "program/model/bundle/train_bundle.h"
#include "program/model/fit/fit_checkpoint.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/forecast/forecaster.h"

namespace perfcast::program {
namespace {

// [P x platforms.size()] log times relative to each row's mean over `platforms`; NaN: not measured.
Eigen::MatrixXd relative_times(const TrainingTable& table, const std::vector<size_t>& platforms) {
  Eigen::MatrixXd times(static_cast<int64_t>(table.programs.size()), static_cast<int64_t>(platforms.size()));
  for (int64_t i = 0; i < times.rows(); ++i) {
    double sum = 0;
    int64_t present = 0;
    for (int64_t j = 0; j < times.cols(); ++j) {
      const auto& time = table.at(static_cast<size_t>(i), platforms[static_cast<size_t>(j)]);
      times(i, j) = time ? time->log_time : kUnknown;
      sum += time ? time->log_time : 0;
      present += time ? 1 : 0;
    }
    if (present > 0) times.row(i).array() -= sum / static_cast<double>(present);
  }
  return times;
}

Eigen::MatrixXd absent_like(const TrainingTable& table) {
  return Eigen::MatrixXd::Constant(static_cast<int64_t>(table.programs.size()),
                                   static_cast<int64_t>(table.platforms.size()), kUnknown);
}

}  // namespace

Result<FoldForecast> forecast_programs(const TrainingTable& training, const std::string& model,
                                       const FoldOptions& options, const std::vector<const Profile*>& profiles,
                                       const std::vector<std::vector<Measurement>>& measured) {
  const auto rows = static_cast<int64_t>(profiles.size()), columns = static_cast<int64_t>(training.platforms.size());
  const Eigen::MatrixXd absent = Eigen::MatrixXd::Constant(rows, columns, kUnknown);
  if (!options.intervals) {
    // With one more column, what the model says is the fastest.
    if (const auto kept = kept_forecasts(options.fit, rows, columns + 1)) {
      FoldForecast forecast{kept->leftCols(columns), absent, absent};
      for (const double best : kept->col(columns)) forecast.best.push_back(static_cast<int64_t>(best));
      return forecast;
    }
    auto predictor = make_predictor(model, options.fit.settings);
    if (!predictor) return predictor.error();
    if (Status status = (*predictor)->fit(training, options.fit); !status) return status.error();
    Prediction prediction = (*predictor)->predict_with_disagreement(profiles);
    FoldForecast forecast{std::move(prediction.log_rpv), absent, absent, std::move(prediction.best)};
    forecast.best.resize(static_cast<size_t>(rows), -1);
    Eigen::MatrixXd kept(rows, columns + 1);
    kept.leftCols(columns) = forecast.predicted;
    for (int64_t row = 0; row < rows; ++row)
      kept(row, columns) = static_cast<double>(forecast.best[static_cast<size_t>(row)]);
    if (Status status = keep_forecasts(options.fit, kept); !status) return status.error();
    return forecast;
  }
  TrainOptions train;
  train.model = model;
  train.fit = options.fit;
  auto bundle = train_bundle(training, train);
  if (!bundle) return bundle.error();
  const Forecaster forecaster(std::make_shared<const Bundle>(std::move(*bundle)));
  FoldForecast result{absent, absent, absent};
  for (int64_t i = 0; i < rows; ++i) {
    const auto index = static_cast<size_t>(i);
    auto forecast =
        forecaster.forecast(*profiles[index], measured.empty() ? std::vector<Measurement>() : measured[index]);
    if (!forecast) return forecast.error();
    if (options.reference >= 0) forecast = Forecaster::relative_to(*forecast, options.reference);
    result.best.push_back(forecast->best);
    result.predicted.row(i) = forecast->log_rpv;
    result.lower.row(i) = forecast->lower;
    result.upper.row(i) = forecast->upper;
  }
  return result;
}

Result<FoldForecast> forecast_platforms(const TrainingTable& table, const std::vector<size_t>& known,
                                        const std::vector<size_t>& unknown, const std::string& model,
                                        const FitOptions& options) {
  const Eigen::MatrixXd measured = relative_times(table, known);
  std::vector<size_t> rows;
  for (int64_t i = 0; i < measured.rows(); ++i) {
    if (measured.row(i).array().isFinite().any()) rows.push_back(static_cast<size_t>(i));
  }
  auto predictor = make_predictor(model, options.settings);
  if (!predictor) return predictor.error();
  const TrainingTable training = table.with_platforms(known).with_programs(rows);
  if (Status status = (*predictor)->fit(training, options); !status) return status.error();
  const Eigen::MatrixXd columns = (*predictor)->predict(profiles_of(table));  // [P x known]

  // What is known of any platform need not be carried over by the facts: only what was learned.
  const std::vector<const Profile*> profiles = profiles_of(table);
  Eigen::MatrixXd prior = (*predictor)->prior_on(table.platforms, profiles);  // of all platforms
  const Eigen::VectorXd middle = prior(Eigen::all, known).rowwise().mean();
  prior.colwise() -= middle;
  const Eigen::MatrixXd learned = columns - prior(Eigen::all, known);
  const PlatformTransfer transfer(platform_features(table.platforms, known), known, learned,
                                  measured - prior(Eigen::all, known));
  FoldForecast forecast{absent_like(table), {}, {}};
  for (size_t j = 0; j < known.size(); ++j) {
    forecast.predicted.col(static_cast<int64_t>(known[j])) = columns.col(static_cast<int64_t>(j));
  }
  for (const size_t platform : unknown) {
    const auto column = static_cast<int64_t>(platform);
    forecast.predicted.col(column) = learned * transfer.weights(platform) + prior.col(column);
  }
  // The predictor's zero is the mean over all known platforms; a row's is the mean over those that it was measured on.
  for (int64_t row = 0; row < columns.rows(); ++row) {
    double sum = 0;
    int64_t present = 0;
    for (int64_t j = 0; j < columns.cols(); ++j) {
      if (!std::isfinite(measured(row, j))) continue;
      sum += columns(row, j);
      ++present;
    }
    if (present > 0) forecast.predicted.row(row).array() -= sum / static_cast<double>(present);
  }
  forecast.lower = forecast.predicted.array() - transfer.half_width_log();
  forecast.upper = forecast.predicted.array() + transfer.half_width_log();
  return forecast;
}

Eigen::MatrixXd nearest_platform_times(const TrainingTable& table, const std::vector<size_t>& known,
                                       const std::vector<size_t>& unknown) {
  const Eigen::MatrixXd measured = relative_times(table, known);
  const Eigen::MatrixXd features = platform_features(table.platforms, known);
  Eigen::MatrixXd result = absent_like(table);
  for (const size_t platform : unknown) {
    result.col(static_cast<int64_t>(platform)) =
        measured.col(static_cast<int64_t>(nearest_by_facts(features, known, platform)));
  }
  return result;
}

}  // namespace perfcast::program
