#pragma once
// Normal distributions of several variables, and what observing some of them says of all (Rasmussen & Williams,
// Gaussian Processes for Machine Learning, 2006, section 2.2). A Gaussian process is one of these whose covariance
// comes from a kernel; kernels stand with what they compare: programs, platforms, results, settings of knobs.

#include <Eigen/Core>
#include <vector>

namespace perfcast {

struct Gaussian {
  Eigen::VectorXd mean;        // [n]
  Eigen::MatrixXd covariance;  // [n x n], symmetric
};

// [n x where.size()] what a surprise on each observed variable says of all. `noise`: variance of each observation,
// above 0 where the covariance among the observed is only semidefinite.
Eigen::MatrixXd gain_of(const Eigen::MatrixXd& covariance, const std::vector<Eigen::Index>& where, double noise);

// The posterior by that gain or another; `surprise`: what was observed less the mean there.
Gaussian updated(const Gaussian& prior, const std::vector<Eigen::Index>& where, const Eigen::MatrixXd& gain,
                 const Eigen::VectorXd& surprise);

}  // namespace perfcast
