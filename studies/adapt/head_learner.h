#pragma once
// First-order meta-learning: ANIL (Raghu et al., "Rapid Learning or Feature Reuse?", ICLR 2020), which adapts the head
// alone. A trunk of programs' inputs and an initial linear head are learned such that a few gradient steps of the head
// on the programs measured on a platform forecast the others. What is forecast are surprises: what a model that has not
// seen the platform's design missed there. So a task in training is what a new platform is in use.
//
// Inner loop: gradient descent from w = 0, which is the forecast as it was, on half of sum (phi_i . w - r_i)^2 + pull
// |w|^2 over the measured programs, at the rate 1 / (pull + sum |phi_i|^2), which no phi makes diverge. Outer loop:
// Adam on the squared error of the programs not measured, first-order: by phi with the adapted w taken as a constant.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "learn/neural/dense_network.h"

namespace perfcast::program::adapt_study {

struct HeadLearnerOptions {
  std::vector<int64_t> hidden = {64};
  int64_t features = 16;
  int inner_steps = 20;
  double pull = 1;
  int tasks_of_step = 8;
  float learning_rate = 2e-3f, weight_decay = 1e-2f;
};

class HeadLearner {
 public:
  // surprises: [programs x tasks], log, NaN: not measured. Of each task so many programs are taken for measured as one
  // of `counts`, drawn. One learner for each number of `outer_steps`, which ascend, of one training.
  static Result<std::vector<HeadLearner>> train(const RowMatrixF& programs, const Eigen::MatrixXd& surprises,
                                                const std::vector<size_t>& counts, const HeadLearnerOptions& options,
                                                const std::vector<int>& outer_steps, uint64_t seed);

  // [programs] surprises on a platform where the programs `where` were off by `surprises`.
  Eigen::VectorXd forecast(const std::vector<Eigen::Index>& where, const Eigen::VectorXd& surprises) const;

 private:
  // `surprises` in units of deviation_.
  Eigen::VectorXd adapted_head(const std::vector<Eigen::Index>& where, const Eigen::VectorXd& surprises) const;

  int inner_steps_ = 0;
  double pull_ = 1;
  double deviation_ = 1;      // of surprises: the learner's unit
  Eigen::MatrixXd features_;  // [programs x features] phi
};

}  // namespace perfcast::program::adapt_study
