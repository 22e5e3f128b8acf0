#include "power/model/power_design.h"

#include <algorithm>
#include <cmath>

namespace perfcast {
namespace {

constexpr double kClip = 5;
constexpr double kFlat = 1e-9;

}  // namespace

PowerDesign design_part(const PowerDesign& design, const std::vector<size_t>& which) {
  PowerDesign part;
  part.names = design.names;
  part.groups = design.groups;
  part.workloads = design.workloads;
  const auto n = static_cast<Eigen::Index>(which.size());
  part.rows.resize(n, design.rows.cols());
  part.log_scale.resize(n);
  part.watts.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const size_t r = which[static_cast<size_t>(i)];
    const auto row = static_cast<Eigen::Index>(r);
    part.rows.row(i) = design.rows.row(row);
    part.log_scale(i) = design.log_scale(row);
    part.watts(i) = design.watts(row);
    part.group.push_back(design.group[r]);
    part.workload.push_back(design.workload[r]);
  }
  return part;
}

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
      result(r, c) = std::isnan(value) ? 0 : std::clamp(value, -kClip, kClip);
    }
  }
  result.col(rows.cols()).setOnes();
  return result;
}

}  // namespace perfcast
