#include "studies/adapt/head_learner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"

namespace perfcast::program::adapt_study {
namespace {

constexpr float kOthersAtFirst = 0.3f;
constexpr double kWorstSurprise = 4;  // deviations: beyond it an outlier decides nothing

}  // namespace

Result<std::vector<HeadLearner>> HeadLearner::train(const RowMatrixF& programs, const Eigen::MatrixXd& surprises,
                                                    const std::vector<size_t>& counts,
                                                    const HeadLearnerOptions& options,
                                                    const std::vector<int>& outer_steps, uint64_t seed) {
  HeadLearner own;
  own.inner_steps_ = options.inner_steps;
  own.pull_ = options.pull;
  // Programs of each task that have a time.
  std::vector<std::vector<Eigen::Index>> there(static_cast<size_t>(surprises.cols()));
  double squares = 0, entries = 0;
  for (Eigen::Index j = 0; j < surprises.cols(); ++j) {
    for (Eigen::Index p = 0; p < surprises.rows(); ++p) {
      if (std::isnan(surprises(p, j))) continue;
      there[static_cast<size_t>(j)].push_back(p);
      squares += surprises(p, j) * surprises(p, j);
      ++entries;
    }
  }
  if (entries == 0 || counts.empty()) {
    return Error{"unmeasured", "there is no surprise to learn from", "", "tasks with measured programs"};
  }
  own.deviation_ = std::max(std::sqrt(squares / entries), 1e-6);
  const Eigen::MatrixXd scaled = (surprises / own.deviation_).cwiseMax(-kWorstSurprise).cwiseMin(kWorstSurprise);

  Random random(seed);
  std::vector<int64_t> sizes{programs.cols()};
  sizes.insert(sizes.end(), options.hidden.begin(), options.hidden.end());
  sizes.push_back(options.features);
  DenseNetwork trunk(sizes, random.next());
  // What all programs share of a surprise comes first.
  trunk.layers().back().weights *= kOthersAtFirst;
  trunk.layers().back().bias(0) = 1;
  Adam adam({.learning_rate = options.learning_rate, .weight_decay = options.weight_decay});
  std::vector<DenseLayer> gradients;
  DenseTrace trace;
  trace.inputs() = programs;
  std::vector<HeadLearner> learners;
  learners.reserve(outer_steps.size());
  for (int step = 0; learners.size() < outer_steps.size(); ++step) {
    if (Status status = trunk.forward(trace); !status) return status.error();
    own.features_ = trace.output().cast<double>();
    while (learners.size() < outer_steps.size() && outer_steps[learners.size()] == step) learners.push_back(own);

    Eigen::MatrixXd by_features = Eigen::MatrixXd::Zero(own.features_.rows(), own.features_.cols());
    for (int task = 0; task < options.tasks_of_step; ++task) {
      const size_t chosen = random.below(there.size());
      std::vector<Eigen::Index> order = there[chosen];
      const size_t count = counts[random.below(counts.size())];
      if (count >= order.size()) continue;
      random.shuffle(order);
      const auto middle = order.begin() + static_cast<std::ptrdiff_t>(count);
      const std::vector<Eigen::Index> seen(order.begin(), middle), unseen(middle, order.end());
      const Eigen::VectorXd column = scaled.col(static_cast<Eigen::Index>(chosen));
      const Eigen::VectorXd adapted = own.adapted_head(seen, column(seen));
      const Eigen::MatrixXd phi = own.features_(unseen, Eigen::all);
      const Eigen::VectorXd error =
          (phi * adapted - column(unseen)) / static_cast<double>(unseen.size()) / options.tasks_of_step;
      by_features(unseen, Eigen::all) += error * adapted.transpose();
    }
    trace.output_gradient = by_features.cast<float>();
    if (Status status = trunk.backward(trace, gradients, false); !status) return status.error();
    adam.step(trunk, gradients);
  }
  return learners;
}

Eigen::VectorXd HeadLearner::adapted_head(const std::vector<Eigen::Index>& where,
                                          const Eigen::VectorXd& surprises) const {
  Eigen::VectorXd head = Eigen::VectorXd::Zero(features_.cols());
  if (where.empty()) return head;
  const Eigen::MatrixXd phi = features_(where, Eigen::all);
  const double rate = 1 / (pull_ + phi.squaredNorm());
  for (int step = 0; step < inner_steps_; ++step) {
    head -= rate * (phi.transpose() * (phi * head - surprises) + pull_ * head);
  }
  return head;
}

Eigen::VectorXd HeadLearner::forecast(const std::vector<Eigen::Index>& where, const Eigen::VectorXd& surprises) const {
  return deviation_ * (features_ * adapted_head(where, surprises / deviation_));
}

}  // namespace perfcast::program::adapt_study
