#include "program/model/fit/leading_components.h"

#include <algorithm>

#include "learn/algebra/dense.h"
#include "learn/tensors/tensor_map.h"

namespace perfcast::program {

LeadingComponents LeadingComponents::fit(const Targets& targets, Eigen::Index most) {
  LeadingComponents made;
  made.mean = weighted_mean(targets.log_rpv, targets.weights);
  const Eigen::MatrixXd centred = targets.log_rpv.rowwise() - made.mean.transpose();
  const Eigen::MatrixXd right = thin_svd(targets.weights.cwiseSqrt().asDiagonal() * centred).right;
  made.directions = right.leftCols(std::min(most, right.cols())).transpose();
  return made;
}

Eigen::MatrixXd LeadingComponents::of(const Eigen::MatrixXd& log_rpv) const {
  const Eigen::MatrixXd centred = log_rpv.rowwise() - mean.transpose();
  return centred * directions.transpose();
}

Eigen::MatrixXd LeadingComponents::log_rpv(const Eigen::MatrixXd& components) const {
  Eigen::MatrixXd result = components * directions;
  result.rowwise() += mean.transpose();
  result.colwise() -= result.rowwise().mean().eval();
  return result;
}

void LeadingComponents::save(TensorMap& tensors) const {
  tensors.put("mean", mean);
  tensors.put("directions", directions);
}

Status LeadingComponents::load(const TensorMap& tensors) {
  const auto read = tensors.get("mean", -1, 1);
  if (!read) return read.error();
  auto rows = tensors.get("directions", -1, read->rows());
  if (!rows) return rows.error();
  mean = read->col(0);
  directions = std::move(*rows);
  return {};
}

}  // namespace perfcast::program
