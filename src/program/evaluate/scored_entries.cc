#include "program/evaluate/scored_entries.h"

#include <algorithm>
#include <cmath>

#include "base/unknown.h"

namespace perfcast::program {
namespace {

int64_t measured_among(const Eigen::MatrixXd& log_times, int64_t row, const std::vector<size_t>& columns) {
  return std::count_if(columns.begin(), columns.end(),
                       [&](size_t column) { return !std::isnan(log_times(row, static_cast<int64_t>(column))); });
}

// One row's forecasts of a fold: from the mean over the platforms that the fold knew to that over all.
void against_all_platforms(const Eigen::MatrixXd& log_times, const Fold& fold, int64_t row, ScoreInput& input) {
  const int64_t known = measured_among(log_times, row, fold.train_platforms);
  const int64_t all = known + measured_among(log_times, row, fold.test_platforms);
  double sum = 0;
  for (const size_t j : fold.test_platforms) {
    const auto column = static_cast<int64_t>(j);
    const double forecast = input.predicted(row, column);  // without one, it stays at the known ones' mean
    if (!std::isnan(log_times(row, column)) && !std::isnan(forecast)) sum += forecast;
  }
  const auto count = static_cast<double>(all);
  const double shift = known > 0 ? sum / count : kUnknown;
  const double own_share = 1 - 1 / count;  // what an error of a forecast moves it by, against a mean that it is part of
  for (const size_t j : fold.test_platforms) {
    const auto column = static_cast<int64_t>(j);
    const double before = input.predicted(row, column);
    input.predicted(row, column) = before - shift;
    for (Eigen::MatrixXd* bound : {&input.lower, &input.upper}) {
      if (bound->size() == 0) continue;
      (*bound)(row, column) = before - shift + own_share * ((*bound)(row, column) - before);
    }
  }
}

}  // namespace

ScoreInput on_one_scale(const Eigen::MatrixXd& log_times, const std::vector<Fold>& folds,
                        const FoldForecast& forecast) {
  ScoreInput input{log_times, forecast.predicted, forecast.lower, forecast.upper, {}, {}};
  for (int64_t row = 0; row < log_times.rows(); ++row) {
    double sum = 0;
    int64_t present = 0;
    for (const double value : log_times.row(row)) {
      if (std::isnan(value)) continue;
      sum += value;
      ++present;
    }
    if (present > 0) input.truth.row(row).array() -= sum / static_cast<double>(present);
    for (const Fold& fold : folds) against_all_platforms(log_times, fold, row, input);
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
    if (!input.best.empty()) part.best.push_back(input.best[static_cast<size_t>(row)]);
  }
  return part;
}

}  // namespace perfcast::program
