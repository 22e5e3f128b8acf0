// Factorisations of small dense matrices, compiled once: their templates are what Eigen takes longest to compile, up to
// a minute of a source. Matrices are column major doubles, sizes as stated. None of these fails: where a matrix is not
// what the name asks for, the result holds what Eigen leaves (NaN or a solution of least residual), as with Eigen
// itself.
#pragma once

#include <Eigen/Core>

namespace perfcast {

// x with A x = b by Cholesky's factorisation. a: [n x n] symmetric, positive definite; b: [n x k].
Eigen::MatrixXd solve_positive_definite(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
Eigen::VectorXd solve_positive_definite(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);
Eigen::MatrixXd inverse_positive_definite(const Eigen::MatrixXd& a);
bool is_positive_definite(const Eigen::MatrixXd& a);
// L, lower triangular, with A = L L^T.
Eigen::MatrixXd cholesky_root(const Eigen::MatrixXd& a);

// As above by L D L^T with pivots: a need only be semidefinite.
Eigen::VectorXd solve_semidefinite(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);
Eigen::MatrixXd inverse_semidefinite(const Eigen::MatrixXd& a);

struct SymmetricEigen {
  Eigen::VectorXd values;   // [n], ascending
  Eigen::MatrixXd vectors;  // [n x n], in columns
};
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& a);

// A = U S V^T; of these what forecasts use. a: [m x n], r = min(m, n).
struct ThinSvd {
  Eigen::VectorXd values;  // [r], descending
  Eigen::MatrixXd right;   // V: [n x r]
};
ThinSvd thin_svd(const Eigen::MatrixXd& a);

}  // namespace perfcast
