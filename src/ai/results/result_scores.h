#pragma once
// How well results that nobody published are forecast: each of those that were published from the others, beside what
// scaling by peak FLOP/s gives.
//
// The variances of the model were never fitted with what is left out: accelerator generations are dealt into folds, and
// a row is forecast with variances from the rows of the other folds alone. Intervals are calibrated likewise on what
// other folds' rows show (learn/conformal/conformal.h), each left-out group weighing the same.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ai/results/result_model.h"
#include "base/result.h"

namespace perfcast::ai {

// What is left out together.
//   kSystem       all results of a submitter's systems with so many of an accelerator, of every version; other systems
//                 with that accelerator stay
//   kAccelerator  all systems with that accelerator, its slices included
//   kGeneration   all accelerators of its generation, such as "hopper"
enum class ResultSplit { kSystem, kAccelerator, kGeneration };
inline constexpr size_t kResultSplits = 3;
std::string name_of(ResultSplit split);  // "system", "accelerator", "generation"

// Indices of what is left out together, of each row.
std::vector<int> split_groups(const std::vector<ResultRow>& rows, ResultSplit split);

// Rates from the peak of all accelerators, for each row from those that are not of its group: times the median rate per
// FLOP/s that others reach on the model in the scenario. kUnknown where a peak isn't known or nobody else is there.
std::vector<double> scaled_by_peak(const std::vector<ResultRow>& rows, const std::vector<int>& group);

// The same of a row that isn't among `rows`, from all of them.
double scaled_by_peak(const std::vector<ResultRow>& rows, const ResultRow& asked);

struct ScoredRow {
  size_t row = 0;
  double log_rate = kUnknown, forecast = kUnknown, deviation = kUnknown, baseline = kUnknown;  // logs
  double lower = kUnknown, upper = kUnknown;                                                   // 90%, logs
};

struct ResultScore {
  std::string scenario;  // "all", or one; of what was kept apart: "all", or what is new
  size_t rows = 0, groups = 0;
  double median_error = kUnknown, mean_error = kUnknown;  // of |forecast / measured - 1|
  double coverage_90 = kUnknown;
  double interval_ratio = kUnknown;  // median of upper / lower
  // Of those rows that the baseline has a forecast of, both:
  size_t baseline_rows = 0;
  double median_error_there = kUnknown, mean_error_there = kUnknown;
  double baseline_median_error = kUnknown, baseline_mean_error = kUnknown;
};

struct SplitScores {
  ResultSplit split = ResultSplit::kSystem;
  std::vector<ResultScore> scores;  // "all", then each scenario
  std::vector<ScoredRow> rows;
};

struct ResultScores {
  std::vector<SplitScores> splits;  // of kSystem, kAccelerator, kGeneration
  // Median difference of two submitters' results with as many of the same accelerator on the same model, scenario and
  // version: what no forecast from these facts can go below.
  double noise_floor = kUnknown;
  size_t noise_rows = 0;
  size_t folds = 0;
};

inline constexpr size_t kResultFolds = 5;

// Of scored rows those that `taken` says. `group`: of each of them; `all`: what their `row` counts in.
ResultScore score_rows(const std::string& name, const std::vector<ScoredRow>& rows, const std::vector<int>& group,
                       const std::function<bool(const ScoredRow&)>& taken);

// Half widths of 90% intervals in deviations of the model, by scenario; "": where a scenario isn't there, as fewer than
// 20 groups have it.
using WidthsByScenario = std::map<std::string, double>;
double width_for(const WidthsByScenario& widths, const std::string& scenario);

// For what is as new to the model as a left-out group of the split: from its own rows, each group left out.
WidthsByScenario interval_widths(const ResultModel& model, ResultSplit split);

// Errors: those of the model. `progress` may be null.
Result<ResultScores> score_results(const std::vector<ResultRow>& rows, const ResultFitOptions& options,
                                   const std::function<void(const std::string&)>& progress);

}  // namespace perfcast::ai
