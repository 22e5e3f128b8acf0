#pragma once
// Non-negative least squares by the active-set method of Lawson and Hanson, on the normal equations.

#include <Eigen/Core>

namespace perfcast {

// argmin over x >= 0 of x' gram x / 2 - x' moment; gram must be symmetric positive definite (add a ridge). For
// |A x - b|^2: gram = A'A, moment = A'b.
Eigen::VectorXd nonnegative_least_squares(const Eigen::MatrixXd& gram, const Eigen::VectorXd& moment);

}  // namespace perfcast
