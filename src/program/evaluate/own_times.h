#pragma once
// A ceiling, not a forecast: what a program's own measured times on the other CPU models of a core design say of one
// more of them. A model that knows nothing below the design can't be expected to do better.

#include <Eigen/Core>

#include "program/corpus/corpus.h"

namespace perfcast::program {

// [P x J] log times. `log_times`: measured, NaN where absent. `mean_forecast`: [P x J] log relative times as the mean
// of other families' programs has them, each row about any constant. An entry is that mean and the
// mean of what the row's other measured platforms of the design depart from it; NaN where it has none, or where the
// design is not known.
Eigen::MatrixXd own_times_by_design(const std::vector<Platform>& platforms, const Eigen::MatrixXd& log_times,
                                    const Eigen::MatrixXd& mean_forecast);

}  // namespace perfcast::program
