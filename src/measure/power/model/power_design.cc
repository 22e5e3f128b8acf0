#include "measure/power/model/power_design.h"

#include <algorithm>
#include <cmath>

namespace perfcast::measure {
namespace {

constexpr double kFlat = 1e-9;

}  // namespace

InputScale InputScale::fit(const Eigen::MatrixXd& rows, const std::vector<size_t>& which) {
  const Eigen::Index columns = rows.cols();
  InputScale scale;
  scale.centre = Eigen::RowVectorXd::Zero(columns);
  scale.scale = Eigen::RowVectorXd::Ones(columns);
  for (Eigen::Index c = 0; c < columns; ++c) {
    double sum = 0, squares = 0, count = 0;
    for (const size_t r : which) {
      const double value = rows(static_cast<Eigen::Index>(r), c);
      if (std::isnan(value)) continue;
      sum += value;
      squares += value * value;
      ++count;
    }
    if (count == 0) continue;
    const double mean = sum / count;
    const double deviation = std::sqrt(std::max(squares / count - mean * mean, 0.0));
    scale.centre(c) = mean;
    scale.scale(c) = deviation > kFlat * std::max(std::abs(mean), kFlat) ? deviation : 1;
  }
  return scale;
}

Eigen::MatrixXd InputScale::apply(const Eigen::MatrixXd& rows) const {
  Eigen::MatrixXd result(rows.rows(), rows.cols() + 1);
  for (Eigen::Index c = 0; c < rows.cols(); ++c) {
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      const double value = (rows(r, c) - centre(c)) / scale(c);
      result(r, c) = std::isnan(value) ? 0 : std::clamp(value, -kFarthestInput, kFarthestInput);
    }
  }
  result.col(rows.cols()).setOnes();
  return result;
}

}  // namespace perfcast::measure
