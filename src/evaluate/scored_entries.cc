#include "evaluate/scored_entries.h"

#include <algorithm>
#include <cmath>

#include "base/unknown.h"

namespace perfcast {
namespace {

// Of each row over those columns of it that are there; NaN where none is.
Eigen::VectorXd row_means(const Eigen::MatrixXd& values, const std::vector<size_t>& columns) {
  Eigen::VectorXd means(values.rows());
  for (int64_t row = 0; row < values.rows(); ++row) {
    double sum = 0;
    int64_t present = 0;
    for (const size_t column : columns) {
      const double value = values(row, static_cast<int64_t>(column));
      if (std::isnan(value)) continue;
      sum += value;
      ++present;
    }
    means(row) = present > 0 ? sum / static_cast<double>(present) : kUnknown;
  }
  return means;
}

}  // namespace

ScoreInput on_one_scale(const Eigen::MatrixXd& log_times, const std::vector<Fold>& folds,
                        const FoldForecast& forecast) {
  ScoreInput input{log_times, forecast.predicted, forecast.lower, forecast.upper, {}, {}};
  std::vector<size_t> all;
  for (int64_t j = 0; j < log_times.cols(); ++j) all.push_back(static_cast<size_t>(j));
  const Eigen::VectorXd zero = row_means(log_times, all);
  input.truth.colwise() -= zero;
  for (const Fold& fold : folds) {
    const Eigen::VectorXd shift = row_means(log_times, fold.train_platforms) - zero;
    for (const size_t j : fold.test_platforms) {
      for (Eigen::MatrixXd* values : {&input.predicted, &input.lower, &input.upper}) {
        if (values->size() > 0) values->col(static_cast<int64_t>(j)) += shift;
      }
    }
  }
  return input;
}

void leave_out_measured(const Repetition& repetition, int64_t reference, ScoreInput& input) {
  const bool any = std::any_of(repetition.measured.begin(), repetition.measured.end(),
                               [](const std::vector<int64_t>& columns) { return !columns.empty(); });
  if (!any) return;
  input.complete.assign(static_cast<size_t>(input.truth.rows()), columns_in_use(input.truth));
  for (size_t f = 0; f < repetition.folds.size(); ++f) {
    for (const size_t p : repetition.folds[f].test_programs) {
      for (const int64_t column : repetition.measured[f]) {
        input.complete[p] -= column == reference ? 0 : 1;
        input.truth(static_cast<int64_t>(p), column) = kUnknown;
      }
    }
  }
}

ScoreInput rows_of(const ScoreInput& input, const std::vector<int64_t>& rows) {
  ScoreInput part;
  part.truth = input.truth(rows, Eigen::all);
  part.predicted = input.predicted(rows, Eigen::all);
  if (input.lower.size() > 0) part.lower = input.lower(rows, Eigen::all);
  if (input.upper.size() > 0) part.upper = input.upper(rows, Eigen::all);
  for (const int64_t row : rows) {
    part.families.push_back(input.families[static_cast<size_t>(row)]);
    if (!input.complete.empty()) part.complete.push_back(input.complete[static_cast<size_t>(row)]);
  }
  return part;
}

}  // namespace perfcast
