#pragma once
// Log relative times in few numbers: how far a program lies along the directions in which the training programs' times
// differ most. Families that learn one output at a time learn these.

#include <Eigen/Core>

#include "program/model/fit/targets.h"

namespace perfcast {
class TensorMap;
}  // namespace perfcast

namespace perfcast::program {

struct LeadingComponents {
  Eigen::VectorXd mean;        // J, weighted
  Eigen::MatrixXd directions;  // C x J: what one unit of a component adds to each platform

  // Weighted principal components, `most` of them or as many as there are.
  static LeadingComponents fit(const Targets& targets, Eigen::Index most);
  Eigen::MatrixXd of(const Eigen::MatrixXd& log_rpv) const;          // [N x J] -> [N x C]
  Eigen::MatrixXd log_rpv(const Eigen::MatrixXd& components) const;  // [N x C] -> [N x J], each row's mean is 0

  void save(TensorMap& tensors) const;  // "mean" and "directions"
  Status load(const TensorMap& tensors);
};

}  // namespace perfcast::program
