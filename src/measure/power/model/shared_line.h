#pragma once
// One line for several groups at once: what they share, and what each adds to it (partial pooling; Gelman & Hill 2007,
// ch. 12, as a ridge on the differences). A group that was never seen begins with what is shared and is updated by its
// own few samples as Bayes has it, the spread of the known groups being the prior.

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "base/result.h"

namespace perfcast::measure {

struct SharedLineOptions {
  // Of a total weight of 1 over all rows; inputs are standardised, so that one penalty suits all.
  double shared_penalty = 1e-3, own_penalty = 0.03;
  double own_offset_penalty = 1e-4;
};

// "too-large" where the moments of these rows would take more than 512 MiB, or groups are too many to tell apart.
Status check_line_size(Eigen::Index inputs, const std::vector<int>& group, const std::vector<int>& workload,
                       const std::vector<size_t>& which);

// Second moments of rows by (group, workload), each cell of weight 1 whatever its number of rows: leaving a workload
// out costs a subtraction.
class LineMoments {
 public:
  // inputs [n x K], the last column ones; rows whose target is NaN are left out.
  LineMoments(const Eigen::MatrixXd& inputs, const Eigen::VectorXd& target, const std::vector<int>& group,
              const std::vector<int>& workload, const std::vector<size_t>& which);

  struct Cell {
    int group = 0, workload = 0;
    double rows = 0;
    Eigen::MatrixXd gram;    // mean of x x'
    Eigen::VectorXd moment;  // mean of x y
    double square = 0;       // mean of y^2
  };
  const std::vector<Cell>& cells() const { return cells_; }
  Eigen::Index inputs() const { return inputs_; }

 private:
  std::vector<Cell> cells_;
  Eigen::Index inputs_ = 0;
};

using CellChoice = std::function<bool(const LineMoments::Cell&)>;

class SharedLine {
 public:
  // Of the cells that `taken` says; at least one.
  static SharedLine fit(const LineMoments& moments, const CellChoice& taken, const SharedLineOptions& options);

  // Of a group that was not fitted: what is shared.
  Eigen::VectorXd coefficients(int group) const;
  const Eigen::VectorXd& shared() const { return shared_; }

  // How far groups' coefficients lie from what is shared, squared, each input's; of one group: what its prior says.
  Eigen::VectorXd own_variance() const;
  // Mean squared error over the cells of the fit.
  double noise_variance() const { return noise_variance_; }

  // The coefficients of a new group after its samples (inputs [k x K], target [k]; k may be 0). `noise` of one sample.
  struct Updated {
    Eigen::VectorXd coefficients;
    Eigen::MatrixXd covariance;  // [K x K]
  };
  Updated update(const Eigen::MatrixXd& inputs, const Eigen::VectorXd& target, double noise,
                 const Eigen::VectorXd& prior_variance) const;

  const std::vector<int>& groups() const { return groups_; }
  const Eigen::MatrixXd& own() const { return own_; }  // [K x groups]: what each adds
  // From what was saved; groups beside the columns of `own`.
  static SharedLine from_parts(Eigen::VectorXd shared, std::vector<int> groups, Eigen::MatrixXd own,
                               double noise_variance);

 private:
  Eigen::VectorXd shared_;
  std::vector<int> groups_;
  Eigen::MatrixXd own_;
  double noise_variance_ = 0;
};

}  // namespace perfcast::measure
