#pragma once
// A model of power from samples: inputs and form chosen on workloads left out of the training rows, intervals
// calibrated on the same, and a card that says what it was made from.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "measure/power/model/activity_features.h"
#include "measure/power/model/power_form.h"
#include "measure/power/model/power_setting.h"
#include "measure/power/table/power_table.h"

namespace perfcast::measure {

struct PowerModelOptions {
  std::vector<ActivitySet> sets = {ActivitySet::kLoad, ActivitySet::kCounters, ActivitySet::kHistory};
  // Least squares take the table's columns as they are, whatever `sets` has.
  std::vector<PowerFormKind> forms = {PowerFormKind::kSharedLine, PowerFormKind::kNonnegative,
                                      PowerFormKind::kLeastSquares, PowerFormKind::kKernel, PowerFormKind::kTrees};
  bool blends = true;  // means of several forms' logarithms are candidates, too
  int folds = 6;       // at most, of workloads; of stretches of time where there are fewer than three workloads
  double coverage = 0.9;
  uint64_t seed = 1;
};

// A machine that gave few samples with power or none.
struct NewMachineOptions {
  std::string machine;  // as the table's; one that it doesn't have is forecast from the others alone
  double coverage = 0.9;
  uint64_t seed = 1;
};

struct NewMachineCard {
  std::string machine;
  size_t samples = 0;  // of it that have power and were taken
  size_t known_machines = 0;
};

struct PowerModelCard {
  size_t rows = 0;
  std::vector<std::string> workloads, groups;
  std::string chosen;           // "shared-line + trees on history inputs"
  std::string left_out;         // "workload"; "stretch of time" where there are too few; "machine" of a new machine
  double error = 0;             // mean absolute percentage error on what was left out, averaged over cells, as a share
  double mean_power_error = 0;  // of saying the mean power of the training rows' group instead
  std::vector<std::pair<std::string, double>> error_by_workload;  // or by what else was left out
  std::vector<std::pair<std::string, double>> tried;              // every candidate with its error
  std::optional<NewMachineCard> new_machine;
};

struct PowerForecast {
  Eigen::VectorXd watts, lower, upper;  // one for each row asked for
  // Of each row: an input, or the power itself, lies beyond the samples that the model was made of, and counts as if it
  // lay at their edge.
  std::vector<bool> is_held = {};
};

class PowerModel {
 public:
  // Rows of `which` that have watts. "too-few-samples" below 30 rows, or 10 for each input of the smallest set.
  static Result<PowerModel> fit(const PowerTable& table, const std::vector<size_t>& which,
                                const PowerModelOptions& options);

  // Of a machine with few samples or none: a line that the table's other machines share, updated with them (Bayes;
  // power_transfer.h). All settings of a machine (frequency, cores) are one group. Rows of it without power cost no
  // meter and tell its capacity. Errors: "too-few-machines" below two others, "too-few-samples" where one of those has
  // fewer than 10 rows with power, "missing-counters" where a counter is told of the new machine alone, or an input of
  // the others alone.
  static Result<PowerModel> fit_new_machine(const PowerTable& table, const NewMachineOptions& options);

  // Of all rows: what lies around a row in its run is read, too. "missing-counters" where the table lacks one that the
  // model was made with.
  Result<PowerForecast> forecast(const PowerTable& table) const;

  const PowerModelCard& card() const { return card_; }
  double coverage() const { return coverage_; }
  double half_width() const { return half_width_; }  // of the interval, of log watts; of a new machine a typical one
  bool knows(const std::string& group) const;
  const ActivityFeatures& features() const { return features_; }
  // One for each group; empty where the model's file doesn't say.
  const std::vector<PowerSetting>& settings() const { return settings_; }

  Json to_json() const;  // schema perfcast.power-model/1
  static Result<PowerModel> from_json(const Json& json, const std::string& source);

 private:
  ActivityFeatures features_;
  InputScale scale_;
  std::vector<std::string> groups_;
  std::vector<PowerSetting> settings_;
  std::vector<std::shared_ptr<const PowerForm>> forms_;
  double lowest_ = 0, highest_ = 0;  // of the log target in training
  double coverage_ = 0.9, half_width_ = 0;
  PowerModelCard card_;
};

std::vector<size_t> all_rows(const PowerTable& table);

// Mean over the (group, workload) cells of the mean of |forecast / measured - 1|, of rows that have both.
double cell_error(const PowerDesign& design, const std::vector<size_t>& which, const Eigen::VectorXd& forecast_watts);
// The same of forecasts of the log target.
double log_cell_error(const PowerSamples& samples, const std::vector<size_t>& which, const Eigen::VectorXd& log_target);
// Of saying each group's mean power, of all other workloads.
double mean_power_error(const PowerSamples& samples, const std::vector<size_t>& which);

}  // namespace perfcast::measure
