#pragma once
// Small inputs of scores, written as relative times.

#include <Eigen/Core>
#include <cmath>
#include <initializer_list>
#include <string>

#include "program/evaluate/scores.h"

namespace perfcast::program {

// Rows of linear relative times -> logs.
inline Eigen::MatrixXd logs(std::initializer_list<std::initializer_list<double>> rows) {
  Eigen::MatrixXd result(static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows.begin()->size()));
  int64_t i = 0;
  for (const auto& row : rows) {
    int64_t j = 0;
    for (const double value : row) result(i, j++) = std::log(value);
    ++i;
  }
  return result;
}

// Each row a family of its own.
inline ScoreInput input_of(const Eigen::MatrixXd& truth, const Eigen::MatrixXd& predicted) {
  ScoreInput input{truth, predicted, {}, {}, {}, {}};
  for (int64_t row = 0; row < truth.rows(); ++row) input.families.push_back("family" + std::to_string(row));
  return input;
}

}  // namespace perfcast::program
