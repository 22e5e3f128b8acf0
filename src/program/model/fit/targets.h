#pragma once
// What families are fitted to: complete log relative times of a training table, weighed by family, and how far off a
// forecast of them is.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "program/corpus/corpus.h"

namespace perfcast::program {

// Log times of a table split as program + platform + rest, where the rest of an absent entry is taken as 0: for
// families that need every output at once. `present` tells which entries were measured (1) and which were not (0).
struct Targets {
  Eigen::MatrixXd log_rpv;      // P x J, each row's mean is 0
  Eigen::MatrixXd present;      // P x J
  Eigen::VectorXd log_seconds;  // P: the row means taken off: mean log seconds per unit of work
  Eigen::VectorXd weights;      // P: 1/sqrt(number of programs of its family)
  std::vector<int64_t> family;  // P: index of its family, in order of first appearance
  int64_t families = 0;
};

// "empty-table" without programs or platforms; "unmeasured" where a program or a platform has no time at all.
Result<Targets> make_targets(const TrainingTable& table);

// Variance of log time that a model takes an entry to have from its measurement: what is stated, or a usual one.
double measured_variance(const PlatformTime& time);

// Weighted mean of the rows: J.
Eigen::VectorXd weighted_mean(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights);

// P: mean over platforms of log seconds per instruction; NaN where the profile's units of work are unknown.
Eigen::VectorXd log_seconds_per_instruction(const TrainingTable& table, const Targets& targets);

// [families] mean absolute error in log RPV over each family's measured entries.
Eigen::VectorXd family_errors(const Eigen::MatrixXd& predicted, const Targets& targets);
// Their mean over the families.
double family_mean_error(const Eigen::MatrixXd& predicted, const Targets& targets);

}  // namespace perfcast::program
