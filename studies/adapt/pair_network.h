#pragma once
// A network from a program and a platform's facts to the program's time there: a rectified trunk and a linear head, to
// be fine-tuned on a few programs of a platform that it has not seen.

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "learn/neural/dense_network.h"
#include "program/corpus/corpus.h"

namespace perfcast::program::adapt_study {

struct PairNetworkOptions {
  std::vector<int64_t> hidden = {64, 64};
  Eigen::Index batch = 128;
  float learning_rate = 2e-3f, weight_decay = 1e-2f;
  // Standard deviations, of the platforms' own, of what is added to each fact of a row in training: a new design's
  // facts are none that were seen.
  double fact_noise = 0;
};

// What is moved, how fast (Adam) and for how many steps, all measured programs in each; before them the head's bias, by
// what the measured programs are off on average, where `level_prior` more were off by nothing.
struct FineTuning {
  bool head_alone = false;
  float learning_rate = 1e-3f;
  int steps = 0;
  double level_prior = 0.5;
};

class PairNetwork {
 public:
  // programs: [programs x inputs], standardised. log_times: [programs x platforms], NaN: not measured. Learns from the
  // platforms `known`; one network for each of `epochs`, which ascend, of one training.
  static Result<std::vector<PairNetwork>> train(std::shared_ptr<const RowMatrixF> programs,
                                                const std::vector<Platform>& platforms,
                                                const std::vector<size_t>& known, const Eigen::MatrixXd& log_times,
                                                const PairNetworkOptions& options, const std::vector<int>& epochs,
                                                uint64_t seed);

  // [programs] log times on a platform, from its facts.
  Result<Eigen::VectorXd> forecast(size_t platform) const;
  // The same once the programs `where` took `log_times` there: after each of `steps`, which ascend; those of `tuning`
  // are not read.
  Result<std::vector<Eigen::VectorXd>> fine_tuned(size_t platform, const std::vector<Eigen::Index>& where,
                                                  const Eigen::VectorXd& log_times, const FineTuning& tuning,
                                                  const std::vector<int>& steps) const;

 private:
  // [programs x inputs] of all programs on one platform.
  RowMatrixF rows_of(size_t platform) const;
  Eigen::VectorXd log_times_of(const RowMatrixF& output) const;

  std::shared_ptr<const RowMatrixF> programs_;
  RowMatrixF facts_;       // [platforms x facts]
  Eigen::VectorXd means_;  // [programs] of log time over the known platforms
  double deviation_ = 1;   // of log times about them: the network's unit
  DenseNetwork network_;
};

}  // namespace perfcast::program::adapt_study
