#pragma once
// Rows of numbers, shifted and scaled as the training rows have them.

#include <Eigen/Core>
#include <cstdint>

#include "base/result.h"

namespace perfcast {

class TensorMap;

// Column-wise shift and scale, fitted on rows with weights; NaN entries are left out when fitting and become 0 (the
// mean) when applied. Standardised values are clipped to +-`limit`.
struct Standardiser {
  Eigen::VectorXd centre, scale;
  double limit = 4;
  static Standardiser fit(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights);
  Eigen::MatrixXd apply(const Eigen::MatrixXd& rows) const;
  // As apply(), but absent stays NaN: what distances between programs are made of.
  Eigen::MatrixXd apply_with_gaps(const Eigen::MatrixXd& rows) const;
  void save(TensorMap& tensors) const;
  Status load(const TensorMap& tensors, int64_t columns);
};

// How alike rows of standardised inputs are: exp(-decay x mean squared distance per input), [a x b].
Eigen::MatrixXd similarity_of(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double decay);
// Its slope by each input of one row, [inputs x b].
Eigen::MatrixXd similarity_slopes(const Eigen::RowVectorXd& row, const Eigen::MatrixXd& b, double decay);

}  // namespace perfcast
