#pragma once
// Forecasts of scikit-learn's forests, for differential tests.

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace perfcast::program {

// What a forest is fitted on and asked for: rows are samples; targets may have several columns.
struct ForestFold {
  Eigen::MatrixXd train_x, train_y;
  Eigen::VectorXd train_weights;
  Eigen::MatrixXd test_x;
};

// Per fold: [test rows x target columns].
struct SklearnForecasts {
  std::vector<Eigen::MatrixXd> extra_trees, random_forest;
};

// Runs `script` (sklearn_forest.py) under /usr/bin/python3 in a folder of its own. `share`: of the features, tried at
// every split. "not-installed" where there is no such interpreter or it has no scikit-learn; "failed" with its output.
Result<SklearnForecasts> sklearn_forests(const std::string& script, const std::vector<ForestFold>& folds, int64_t trees,
                                         double share);

}  // namespace perfcast::program
