#include "learn/gaussian/gaussian.h"

#include "learn/algebra/dense.h"

namespace perfcast {

Eigen::MatrixXd gain_of(const Eigen::MatrixXd& covariance, const std::vector<Eigen::Index>& where, double noise) {
  Eigen::MatrixXd seen = covariance(where, where);
  seen.diagonal().array() += noise;
  const Eigen::MatrixXd cross = covariance(where, Eigen::all);
  return solve_positive_definite(seen, cross).transpose();
}

Gaussian updated(const Gaussian& prior, const std::vector<Eigen::Index>& where, const Eigen::MatrixXd& gain,
                 const Eigen::VectorXd& surprise) {
  const Eigen::MatrixXd cross = prior.covariance(Eigen::all, where);
  Gaussian posterior{prior.mean + gain * surprise, prior.covariance - gain * cross.transpose()};
  posterior.covariance = ((posterior.covariance + posterior.covariance.transpose()) / 2).eval();
  return posterior;
}

}  // namespace perfcast
