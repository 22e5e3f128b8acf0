#pragma once
// What a platform's facts say about times on it, learned from platforms with runs: for the split by platform, where a
// program's times elsewhere are known and the platform's own are not.

#include <Eigen/Dense>
#include <vector>

#include "corpus/corpus.h"

namespace perfcast {

// [platforms.size() x F] facts as numbers: logs of positive facts, flags, architecture, vendor and CPU family as 0/1,
// standardised over the rows in `known`. A fact that a platform does not state is the mean of those that do; facts that
// fewer than half of `known` state, or that do not vary there, are left out.
Eigen::MatrixXd platform_features(const std::vector<Platform>& platforms, const std::vector<size_t>& known);

class PlatformTransfer {
 public:
  // features: of all platforms. columns: [P x known.size()] log relative times of the known platforms, each row's mean
  // 0, no entry absent. Kernel regression over platforms; its width and noise are chosen by leaving one known platform
  // out.
  PlatformTransfer(const Eigen::MatrixXd& features, const std::vector<size_t>& known, const Eigen::MatrixXd& columns);

  // Weights over the known platforms (sum free): a program's value on the new platform is the weighted sum of its
  // values on the known ones.
  Eigen::VectorXd weights(size_t platform) const;
  // Index into `known` of the platform with the nearest facts.
  size_t nearest(size_t platform) const;
  // 90% quantile of |error| in log time when each known platform is left out in turn.
  double half_width_log() const { return half_width_log_; }

 private:
  Eigen::VectorXd kernel(size_t platform) const;
  Eigen::MatrixXd features_;
  std::vector<size_t> known_;
  double width_ = 1, noise_ = 0.1, half_width_log_ = 0;
  Eigen::LDLT<Eigen::MatrixXd> solver_;
};

}  // namespace perfcast
