#include "learn/fit/standardiser.h"

#include <algorithm>
#include <cmath>

#include "learn/tensors/tensor_map.h"

namespace perfcast {

Standardiser Standardiser::fit(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights) {
  Standardiser result;
  result.centre = Eigen::VectorXd::Zero(rows.cols());
  result.scale = Eigen::VectorXd::Ones(rows.cols());
  for (Eigen::Index c = 0; c < rows.cols(); ++c) {
    double total = 0;
    double sum = 0;
    double squares = 0;
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      if (std::isnan(rows(r, c))) continue;
      total += weights(r);
      sum += weights(r) * rows(r, c);
    }
    if (total == 0) continue;
    const double centre = sum / total;
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      if (!std::isnan(rows(r, c))) squares += weights(r) * (rows(r, c) - centre) * (rows(r, c) - centre);
    }
    result.centre(c) = centre;
    const double deviation = std::sqrt(squares / total);
    // A column that never varied in training says nothing: values far off it must not dominate distances.
    if (deviation > 1e-6) result.scale(c) = deviation;
  }
  return result;
}

Eigen::MatrixXd Standardiser::apply(const Eigen::MatrixXd& rows) const {
  Eigen::MatrixXd result(rows.rows(), rows.cols());
  for (Eigen::Index c = 0; c < rows.cols(); ++c) {
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      const double value = (rows(r, c) - centre(c)) / scale(c);
      result(r, c) = std::isnan(value) ? 0 : std::clamp(value, -limit, limit);
    }
  }
  return result;
}

Eigen::MatrixXd Standardiser::apply_with_gaps(const Eigen::MatrixXd& rows) const {
  return rows.array().isNaN().select(rows, apply(rows));
}

void Standardiser::save(TensorMap& tensors) const {
  tensors.put("feature_centre", centre);
  tensors.put("feature_scale", scale);
  tensors.put("feature_limit", Eigen::MatrixXd::Constant(1, 1, limit));
}

Status Standardiser::load(const TensorMap& tensors, int64_t columns) {
  const auto read_centre = tensors.get("feature_centre", columns, 1);
  if (!read_centre) return read_centre.error();
  const auto read_scale = tensors.get("feature_scale", columns, 1);
  if (!read_scale) return read_scale.error();
  const auto read_limit = tensors.get("feature_limit", 1, 1);
  if (!read_limit) return read_limit.error();
  centre = read_centre->col(0);
  scale = read_scale->col(0);
  limit = (*read_limit)(0, 0);
  if (!(limit > 0) || (columns > 0 && !(scale.minCoeff() > 0))) {
    return Error{"bad-bundle", "feature scales must be positive", "feature_scale",
                 "a bundle written by perfcast train"};
  }
  return {};
}

Eigen::MatrixXd similarity_of(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double decay) {
  Eigen::MatrixXd distances = -2 * a * b.transpose();
  distances.colwise() += a.rowwise().squaredNorm();
  distances.rowwise() += b.rowwise().squaredNorm().transpose();
  const double inputs = static_cast<double>(std::max<Eigen::Index>(b.cols(), 1));
  return (-decay / inputs * distances.array().max(0)).exp();
}

Eigen::MatrixXd similarity_slopes(const Eigen::RowVectorXd& row, const Eigen::MatrixXd& b, double decay) {
  const double inputs = static_cast<double>(std::max<Eigen::Index>(b.cols(), 1));
  const Eigen::RowVectorXd similarity = 2 * decay / inputs * similarity_of(row, b, decay);
  return (b.rowwise() - row).transpose() * similarity.asDiagonal();
}

}  // namespace perfcast
