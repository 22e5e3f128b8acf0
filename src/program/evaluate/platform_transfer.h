#pragma once
// What a platform's facts say about times on it, learned from platforms with runs: for the split by platform, where a
// program's times elsewhere are known and the platform's own are not.

#include <Eigen/Core>
#include <vector>

#include "program/corpus/corpus.h"

namespace perfcast::program {

// [platforms.size() x F] facts as numbers: logs of positive facts, flags, architecture, vendor and CPU family as 0/1,
// standardised over the rows in `known`. A fact that a platform does not state is the mean of those that do; facts that
// fewer than half of `known` state, or that do not vary there, are left out.
Eigen::MatrixXd platform_features(const std::vector<Platform>& platforms, const std::vector<size_t>& known);

// Index into `known` of the platform whose facts are nearest to those of `platform`.
size_t nearest_by_facts(const Eigen::MatrixXd& features, const std::vector<size_t>& known, size_t platform);

class PlatformTransfer {
 public:
  // features: of all platforms. columns: [P x known.size()] log relative times to combine, no entry absent. measured:
  // the same as measured, NaN where absent. Kernel regression over platforms; its width and noise are those with the
  // least mean |error| against `measured` when one known platform is left out in turn.
  PlatformTransfer(const Eigen::MatrixXd& features, const std::vector<size_t>& known, const Eigen::MatrixXd& columns,
                   const Eigen::MatrixXd& measured);

  // Weights over the known platforms (sum free): a program's value on the new platform is the weighted sum of its
  // values on the known ones.
  Eigen::VectorXd weights(size_t platform) const;
  // Half width in log time that covers 90% of the entries of a platform like the known ones, each left out in turn.
  double half_width_log() const { return half_width_log_; }

 private:
  Eigen::VectorXd kernel(size_t platform) const;
  Eigen::MatrixXd features_;
  std::vector<size_t> known_;
  double width_ = 1, noise_ = 0.1, half_width_log_ = 0;
  Eigen::MatrixXd inverse_;  // of the known platforms' kernel
};

}  // namespace perfcast::program
