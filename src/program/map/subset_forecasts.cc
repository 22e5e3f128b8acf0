#include "program/map/subset_forecasts.h"

#include <mutex>

#include "base/parallel.h"
#include "base/unknown.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/predictor.h"

namespace perfcast::program {

Eigen::MatrixXd timed_entries(const TrainingTable& table) {
  Eigen::MatrixXd timed(static_cast<Eigen::Index>(table.programs.size()),
                        static_cast<Eigen::Index>(table.platforms.size()));
  for (Eigen::Index p = 0; p < timed.rows(); ++p) {
    for (Eigen::Index j = 0; j < timed.cols(); ++j) {
      timed(p, j) = table.at(static_cast<size_t>(p), static_cast<size_t>(j)) ? 1 : 0;
    }
  }
  return timed;
}

Result<Eigen::MatrixXd> forecast_from(const TrainingTable& table, const std::vector<size_t>& rows,
                                      const SubsetFitOptions& options, const std::vector<const Profile*>& profiles) {
  TrainingTable training = table.with_programs(rows);
  std::vector<size_t> known;
  for (size_t j = 0; j < table.platforms.size(); ++j) {
    for (size_t p = 0; p < training.programs.size(); ++p) {
      if (!training.at(p, j)) continue;
      known.push_back(j);
      break;
    }
  }
  if (known.size() < 2) {
    return Error{"unmeasured", "the chosen programs were timed on fewer than two platforms", "",
                 "more of the programs, or programs that were timed"};
  }
  if (known.size() < table.platforms.size()) training = training.with_platforms(known);
  auto predictor = make_predictor(options.model);
  if (!predictor) return predictor.error();
  FitOptions fit;
  fit.seed = options.seed;
  fit.inner_folds = options.inner_folds;
  if (Status status = (*predictor)->fit(training, fit); !status) return status.error();
  const Eigen::MatrixXd columns = (*predictor)->predict(profiles);
  if (known.size() == table.platforms.size()) return columns;
  Eigen::MatrixXd result =
      Eigen::MatrixXd::Constant(columns.rows(), static_cast<Eigen::Index>(table.platforms.size()), kUnknown);
  result(Eigen::all, known) = columns;
  return result;
}

Result<std::vector<Eigen::MatrixXd>> forecast_left_out(const TrainingTable& table, const std::vector<Fold>& folds,
                                                       const std::vector<RowChoice>& choices,
                                                       const std::vector<SubsetFitOptions>& options, int threads,
                                                       const std::function<void(const std::string&)>& progress) {
  const auto programs = static_cast<Eigen::Index>(table.programs.size());
  const auto platforms = static_cast<Eigen::Index>(table.platforms.size());
  std::vector<Eigen::MatrixXd> result(choices.size(), Eigen::MatrixXd::Constant(programs, platforms, kUnknown));
  std::mutex lock;
  size_t done = 0;
  const size_t fits = choices.size() * folds.size();
  const Status status = parallel_for(fits, threads, [&](size_t i) -> Status {
    const size_t choice = i / folds.size(), f = i % folds.size();
    const Fold& fold = folds[f];
    std::vector<const Profile*> profiles;
    for (const size_t row : fold.test_programs) profiles.push_back(&table.profiles[row]);
    const auto forecast = forecast_from(table, choices[choice](f), options[choice], profiles);
    if (!forecast) {
      Error error = forecast.error();
      error.where = "model " + options[choice].model + ", without " + fold.left_out;
      return error;
    }
    // Each fold has rows of its own.
    for (size_t k = 0; k < fold.test_programs.size(); ++k) {
      result[choice].row(static_cast<Eigen::Index>(fold.test_programs[k])) =
          forecast->row(static_cast<Eigen::Index>(k));
    }
    const std::lock_guard<std::mutex> guard(lock);
    ++done;
    if (progress) progress("fitting subsets: " + std::to_string(done) + " of " + std::to_string(fits));
    return {};
  });
  if (!status) return status.error();
  return result;
}

}  // namespace perfcast::program
