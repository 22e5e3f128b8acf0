#pragma once
// Every workload left out in turn: forecasts of methods for it, and what they are worth.

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "measure/power/model/power_model.h"
#include "measure/power/table/power_table.h"

namespace perfcast::measure::power_study {

struct CellScore {
  double error = 0;       // mean of |forecast / measured - 1| over the samples
  double mean_error = 0;  // |mean of the forecasts / mean of the measured - 1|
  double covered = 0;     // share of samples inside the interval; NaN without one
};

// Cells are (group, workload).
using CellScores = std::map<std::pair<int, int>, CellScore>;

struct MethodScores {
  std::string method;
  CellScores cells;
  double error() const;  // mean over the cells
  double mean_error() const;
  double covered() const;
  double error_of_group(int group) const;
};

// `watts`, one for each of `rows`; interval optional.
void add_scores(const PowerDesign& groups, const std::vector<size_t>& rows, const PowerForecast& forecast,
                CellScores& into);

// What a method makes of `test` after `train`, row numbers of `table`.
using PowerMethod = std::function<Result<PowerForecast>(const PowerTable& table, const std::vector<size_t>& train,
                                                        const std::vector<size_t>& test)>;

struct LeftOutRequest {
  std::function<bool(const std::string& workload)> scored;  // others are always learnt from
  int threads = 1;
};
Result<MethodScores> leave_workloads_out(const PowerTable& table, const LeftOutRequest& request,
                                         const std::string& name, const PowerMethod& method);

// Chosen and fitted by PowerModel.
PowerMethod model_method(const PowerModelOptions& options);
// One form on one set of inputs, nothing chosen.
PowerMethod form_method(PowerFormKind kind, ActivitySet set);
// Least squares of watts on the load of a machine, each group on its own.
PowerMethod utilisation_line();
// Ordinary least squares of watts on the raw counters, each group (frequency, cores) on its own. `events` > 0: so many,
// added one by one, each that which lowers the error on workloads left out of the training most (bottom-up, as the
// authors of the A15's set search).
PowerMethod events_regression(size_t events);
// The group's mean power over the training workloads.
PowerMethod mean_power();

// Fitted on every other minute of the very workload, scored on the minutes between: what is left where nothing is new.
MethodScores known_workload_floor(const PowerTable& table, const LeftOutRequest& request, double block_s);
// One run against the other of the same workload and setting, sample by sample.
MethodScores other_run_floor(const PowerTable& table);

}  // namespace perfcast::measure::power_study
