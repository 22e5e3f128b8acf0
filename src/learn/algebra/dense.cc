#include "learn/algebra/dense.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

namespace perfcast {

Eigen::MatrixXd solve_positive_definite(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) { return a.llt().solve(b); }

Eigen::VectorXd solve_positive_definite(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) { return a.llt().solve(b); }

Eigen::MatrixXd inverse_positive_definite(const Eigen::MatrixXd& a) {
  return a.llt().solve(Eigen::MatrixXd::Identity(a.rows(), a.cols()));
}

bool is_positive_definite(const Eigen::MatrixXd& a) { return a.llt().info() == Eigen::Success; }

Eigen::MatrixXd cholesky_root(const Eigen::MatrixXd& a) { return a.llt().matrixL(); }

Eigen::VectorXd solve_semidefinite(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) { return a.ldlt().solve(b); }

Eigen::MatrixXd inverse_semidefinite(const Eigen::MatrixXd& a) {
  return a.ldlt().solve(Eigen::MatrixXd::Identity(a.rows(), a.cols()));
}

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& a) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

ThinSvd thin_svd(const Eigen::MatrixXd& a) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(a, Eigen::ComputeThinV);
  return {svd.singularValues(), svd.matrixV()};
}

}  // namespace perfcast
