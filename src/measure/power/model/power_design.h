#pragma once
// What models of power are fitted on: one row of inputs per sample, all at least 0 or plainly standardisable, without
// gaps in what was chosen, beside the target and the groups that rows belong to.

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <vector>

namespace perfcast::measure {

// A group is what keeps coefficients of its own: a machine at one setting (frequency, cores), or a device.
struct PowerDesign {
  std::vector<std::string> names, groups, workloads;
  Eigen::MatrixXd rows;       // [n x F]; NaN absent
  Eigen::VectorXd log_scale;  // of the watts: log(V^2 f cores) where the setting is known, else 0
  Eigen::VectorXd watts;      // NaN: to be forecast
  std::vector<int> group, workload;

  size_t size() const { return group.size(); }
};

// Inputs count no further from the mean than so many standard deviations.
inline constexpr double kFarthestInput = 5;

// Column-wise shift and scale of rows, learnt from some of them; absent entries become 0 (the mean), others are clipped
// to +-kFarthestInput. A last column of ones is added.
struct InputScale {
  Eigen::RowVectorXd centre, scale;
  static InputScale fit(const Eigen::MatrixXd& rows, const std::vector<size_t>& which);
  Eigen::MatrixXd apply(const Eigen::MatrixXd& rows) const;  // [n x (F + 1)]
};

}  // namespace perfcast::measure
