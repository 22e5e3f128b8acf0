#pragma once
// Matrices that the tests of networks are fed with.

#include "base/random.h"
#include "learn/neural/dense_network.h"

namespace perfcast::testing_network {

inline RowMatrixF random_matrix(Random& random, Eigen::Index rows, Eigen::Index columns) {
  return RowMatrixF::NullaryExpr(rows, columns, [&] { return static_cast<float>(random.normal()); });
}

// 0 for a share `absent`, 1 elsewhere.
inline RowMatrixF random_mask(Random& random, Eigen::Index rows, Eigen::Index columns, double absent) {
  return RowMatrixF::NullaryExpr(rows, columns, [&] { return random.uniform() < absent ? 0.0f : 1.0f; });
}

}  // namespace perfcast::testing_network
