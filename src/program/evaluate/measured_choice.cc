#include "program/evaluate/measured_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "learn/algebra/dense.h"

namespace perfcast::program {
namespace {

constexpr int kSwapRounds = 10;

// Measurements share an unknown offset, so only differences between them inform. With the prior covariance S, the
// centring H over all platforms and the precision P of the measured differences, they take
//   trace(P (S H S)[measured, measured])
// off the variance of the centred log relative times.
class Informer {
 public:
  Informer(const Eigen::MatrixXd& covariance, double noise_log)
      : covariance_(covariance),
        through_all_(covariance * (covariance.rowwise() - covariance.colwise().mean())),
        noise_variance_(noise_log * noise_log + 1e-12) {}

  double gain(const std::vector<int64_t>& measured) const {
    Eigen::MatrixXd seen = covariance_(measured, measured);
    seen.diagonal().array() += noise_variance_;
    const Eigen::MatrixXd inverse = inverse_semidefinite(seen);
    const Eigen::VectorXd weight = inverse.rowwise().sum();
    const Eigen::MatrixXd precision = inverse - weight * weight.transpose() / weight.sum();
    return (precision * through_all_(measured, measured)).trace();
  }

  // What a single measurement fixes is the offset: the platform that others differ from the least.
  double typicality(int64_t platform) const {
    const Eigen::VectorXd differences =
        covariance_.diagonal().array() + covariance_(platform, platform) - 2 * covariance_.col(platform).array();
    return -differences.sum();
  }

 private:
  const Eigen::MatrixXd& covariance_;
  const Eigen::MatrixXd through_all_;
  const double noise_variance_;
};

}  // namespace

Eigen::MatrixXd weighted_covariance(const Eigen::MatrixXd& values, const Eigen::VectorXd& weights, double shrinkage) {
  const Eigen::MatrixXd present = values.unaryExpr([](double value) { return std::isnan(value) ? 0.0 : 1.0; });
  Eigen::MatrixXd residuals = values.unaryExpr([](double value) { return std::isnan(value) ? 0.0 : value; });
  const Eigen::RowVectorXd totals = weights.transpose() * present;
  const Eigen::RowVectorXd means = (weights.transpose() * residuals).cwiseQuotient(totals.cwiseMax(1e-12));
  residuals = (residuals.rowwise() - means).cwiseProduct(present);
  const Eigen::MatrixXd sums = residuals.transpose() * weights.asDiagonal() * residuals;
  const Eigen::MatrixXd shared = present.transpose() * weights.asDiagonal() * present;
  Eigen::MatrixXd covariance = sums.cwiseQuotient(shared.cwiseMax(1e-12));
  const Eigen::VectorXd variances = covariance.diagonal();
  covariance *= 1 - shrinkage;
  covariance.diagonal() = variances;
  return covariance;
}

std::vector<int64_t> most_telling_platforms(const Eigen::MatrixXd& covariance, int64_t count,
                                            const std::vector<bool>& allowed, double noise_log) {
  std::vector<int64_t> candidates;
  for (int64_t j = 0; j < covariance.cols(); ++j) {
    if (allowed[static_cast<size_t>(j)]) candidates.push_back(j);
  }
  if (static_cast<int64_t>(candidates.size()) <= count) return candidates;
  const Informer informer(covariance, noise_log);
  std::vector<int64_t> chosen;
  if (count == 1) {
    chosen.push_back(*std::max_element(candidates.begin(), candidates.end(), [&](int64_t a, int64_t b) {
      return informer.typicality(a) < informer.typicality(b);
    }));
  }
  if (count < 2) return chosen;

  double best = -std::numeric_limits<double>::infinity();
  for (size_t a = 0; a < candidates.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      const double gain = informer.gain({candidates[b], candidates[a]});
      if (gain > best) {
        best = gain;
        chosen = {candidates[b], candidates[a]};
      }
    }
  }
  // The candidate that serves best in the last place of `chosen`, or in the one given.
  const auto improve = [&](size_t place) {
    bool changed = false;
    std::vector<int64_t> trial = chosen;
    for (const int64_t candidate : candidates) {
      if (std::find(chosen.begin(), chosen.end(), candidate) != chosen.end()) continue;
      trial[place] = candidate;
      const double gain = informer.gain(trial);
      if (gain > best * (1 + 1e-9)) {
        best = gain;
        chosen = trial;
        changed = true;
      }
    }
    return changed;
  };
  while (static_cast<int64_t>(chosen.size()) < count) {
    // Any platform that is not there yet holds the place for the best one.
    chosen.push_back(*std::find_if(candidates.begin(), candidates.end(), [&](int64_t candidate) {
      return std::find(chosen.begin(), chosen.end(), candidate) == chosen.end();
    }));
    best = informer.gain(chosen);
    improve(chosen.size() - 1);
  }
  bool changed = true;
  for (int round = 0; changed && round < kSwapRounds; ++round) {
    changed = false;
    for (size_t place = 0; place < chosen.size(); ++place) changed = improve(place) || changed;
  }
  return chosen;
}

}  // namespace perfcast::program
