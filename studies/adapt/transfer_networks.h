#pragma once
// Networks as rivals of the Gaussian process in program/model/adapt: one that is fine-tuned on the programs measured on
// a new platform, and one whose head was meta-learnt for that. What is set is chosen on inner folds: designs
// (platforms, where there are fewer than three designs) left out of those that are known.

#include <Eigen/Core>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/corpus/corpus.h"
#include "studies/adapt/head_learner.h"
#include "studies/adapt/pair_network.h"

namespace perfcast::program::adapt_study {

struct NetworkOptions {
  PairNetworkOptions pair;
  HeadLearnerOptions head;
  std::vector<int> epochs = {4, 8, 16, 32};                // tried
  std::vector<int> tuning_steps = {0, 4, 16, 64, 192};     // tried
  std::vector<float> tuning_rates = {1e-3f, 1e-2f};        // tried
  std::vector<double> fact_noises = {0, 0.5, 1};           // tried
  std::vector<int> outer_steps = {0, 50, 200, 800, 1600};  // tried
  std::vector<double> pulls = {0.1, 1};                    // tried
  size_t inner_folds = 3;
  size_t tuning_platforms = 16;  // at the most, by which the fine-tuning is chosen
  uint64_t seed = 1;
};

// [programs x inputs] what a network sees of the table's programs: their profiles' inputs, standardised, and, where
// there are at most 256 programs, which one it is. The profiles are the table's.
RowMatrixF network_inputs(const TrainingTable& table);

// A learner of the outer loop: which of NetworkOptions::pulls, of outer_steps.
struct ChosenLearner {
  size_t pull = 0, steps = 0;
};

class TransferNetworks {
 public:
  // log_times: [programs x platforms], NaN: not measured; learns from those of `known`. `counts`: numbers of measured
  // programs that what is set is chosen for, one by one. One for each of `seeds`, which share what is set.
  static Result<std::vector<TransferNetworks>> learn(const std::shared_ptr<const RowMatrixF>& programs,
                                                     const std::vector<Platform>& platforms,
                                                     const std::vector<size_t>& known, const Eigen::MatrixXd& log_times,
                                                     const std::vector<size_t>& counts, const NetworkOptions& options,
                                                     const std::vector<uint64_t>& seeds);

  // [programs] log times on a platform that is none of the known ones, where the programs `where` took `log_times`.
  Result<Eigen::VectorXd> fine_tuned(size_t platform, const std::vector<Eigen::Index>& where,
                                     const Eigen::VectorXd& log_times) const;
  Result<Eigen::VectorXd> meta_learnt(size_t platform, const std::vector<Eigen::Index>& where,
                                      const Eigen::VectorXd& log_times) const;
  // What was chosen, in words.
  const std::string& chosen() const { return *chosen_; }

 private:
  TransferNetworks(PairNetwork network, std::map<size_t, FineTuning> tuning, std::map<size_t, HeadLearner> learners,
                   std::shared_ptr<const std::string> chosen);

  PairNetwork network_;
  // By number of measured programs: that of the next smaller number counts.
  std::map<size_t, FineTuning> tuning_;
  std::map<size_t, HeadLearner> learners_;
  std::shared_ptr<const std::string> chosen_;
};

}  // namespace perfcast::program::adapt_study
