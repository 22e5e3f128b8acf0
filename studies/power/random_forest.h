#pragma once
// A random forest on a matrix (Breiman 2001; the cuts drawn at random, as Geurts, Ernst & Wehenkel 2006 have them): a
// rival, in no shipped program. The forest of program/model keeps training programs in its leaves, of all outputs at
// once, and draws no rows; this one keeps means of one target.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace perfcast::measure::power_study {

struct RandomForestOptions {
  int trees = 200;
  double tried_share = 1.0 / 3;  // of the columns, at every cut
  size_t smallest = 5;           // rows that are cut no further
  uint64_t seed = 1;
};

class RandomForest {
 public:
  // rows [n x K], target [n], weights [n]; each tree on n rows drawn with replacement. n > 0, nothing NaN.
  static RandomForest fit(const Eigen::MatrixXd& rows, const Eigen::VectorXd& target, const Eigen::VectorXd& weights,
                          const RandomForestOptions& options);
  double predict(const Eigen::RowVectorXd& row) const;

 private:
  struct Node {
    Eigen::Index column = -1;  // -1: leaf
    double value = 0;          // cut: up to here goes to `next`, what is beyond to `next` + 1; leaf: the mean
    size_t next = 0;
  };
  std::vector<Node> nodes_;
  std::vector<size_t> roots_;
};

}  // namespace perfcast::measure::power_study
