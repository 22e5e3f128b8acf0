#include "studies/adapt/pair_network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"
#include "base/statistics.h"
#include "program/model/adapt/platform_kernel.h"

namespace perfcast::program::adapt_study {
namespace {

constexpr Eigen::Index kNoiseRows = 4096;
constexpr double kFarthestFact = 4;  // standard deviations: beyond what was seen, a network says anything

// Mean over the known platforms that each program was timed on; 0 where there is none.
Eigen::VectorXd means_over_known(const Eigen::MatrixXd& log_times, const std::vector<size_t>& known) {
  Eigen::VectorXd means = Eigen::VectorXd::Zero(log_times.rows());
  std::vector<double> times;
  for (Eigen::Index p = 0; p < means.size(); ++p) {
    times.clear();
    for (const size_t j : known) {
      const double time = log_times(p, static_cast<Eigen::Index>(j));
      if (!std::isnan(time)) times.push_back(time);
    }
    if (!times.empty()) means(p) = mean(times);
  }
  return means;
}

}  // namespace

Result<std::vector<PairNetwork>> PairNetwork::train(std::shared_ptr<const RowMatrixF> programs,
                                                    const std::vector<Platform>& platforms,
                                                    const std::vector<size_t>& known, const Eigen::MatrixXd& log_times,
                                                    const PairNetworkOptions& options, const std::vector<int>& epochs,
                                                    uint64_t seed) {
  PairNetwork own;
  own.programs_ = std::move(programs);
  own.facts_ =
      PlatformLikeness(platforms, known).facts().cwiseMax(-kFarthestFact).cwiseMin(kFarthestFact).cast<float>();
  own.means_ = means_over_known(log_times, known);
  std::vector<std::pair<Eigen::Index, Eigen::Index>> pairs;
  pairs.reserve(static_cast<size_t>(log_times.rows()) * known.size());
  double squares = 0;
  for (const size_t platform : known) {
    const auto j = static_cast<Eigen::Index>(platform);
    for (Eigen::Index p = 0; p < log_times.rows(); ++p) {
      if (std::isnan(log_times(p, j))) continue;
      pairs.emplace_back(p, j);
      squares += std::pow(log_times(p, j) - own.means_(p), 2);
    }
  }
  if (pairs.empty()) return Error{"unmeasured", "no program was timed on a known platform", "", "times to learn from"};
  own.deviation_ = std::max(std::sqrt(squares / static_cast<double>(pairs.size())), 1e-6);

  Random random(seed);
  std::vector<int64_t> sizes{own.programs_->cols() + own.facts_.cols()};
  sizes.insert(sizes.end(), options.hidden.begin(), options.hidden.end());
  sizes.push_back(1);
  own.network_ = DenseNetwork(sizes, random.next());
  Adam adam({.learning_rate = options.learning_rate, .weight_decay = options.weight_decay});
  // Drawn once: rows of it take turns.
  RowMatrixF noise(options.fact_noise > 0 ? kNoiseRows : 0, own.facts_.cols());
  for (Eigen::Index i = 0; i < noise.size(); ++i) {
    noise.data()[i] = static_cast<float>(options.fact_noise * random.normal());
  }
  std::vector<PairNetwork> networks;
  networks.reserve(epochs.size());
  DenseTrace trace;
  RowMatrixF targets;
  std::vector<DenseLayer> gradients;
  const auto all = static_cast<Eigen::Index>(pairs.size());
  for (int epoch = 1; networks.size() < epochs.size(); ++epoch) {
    random.shuffle(pairs);
    for (Eigen::Index from = 0; from < all; from += options.batch) {
      const Eigen::Index size = std::min(options.batch, all - from);
      trace.inputs().resize(size, sizes.front());
      targets.resize(size, 1);
      for (Eigen::Index r = 0; r < size; ++r) {
        const auto& [p, j] = pairs[static_cast<size_t>(from + r)];
        float* const row = trace.inputs().data() + r * sizes.front();
        std::copy_n(own.programs_->data() + p * own.programs_->cols(), own.programs_->cols(), row);
        std::copy_n(own.facts_.data() + j * own.facts_.cols(), own.facts_.cols(), row + own.programs_->cols());
        if (noise.rows() > 0) {
          trace.inputs().row(r).tail(noise.cols()) += noise.row(static_cast<Eigen::Index>(random.below(kNoiseRows)));
        }
        targets(r, 0) = static_cast<float>((log_times(p, j) - own.means_(p)) / own.deviation_);
      }
      if (Status status = own.network_.forward(trace); !status) return status.error();
      weighted_squared_error(trace.output(), targets, RowMatrixF::Ones(size, 1), static_cast<double>(size),
                             trace.output_gradient);
      if (Status status = own.network_.backward(trace, gradients, false); !status) return status.error();
      adam.step(own.network_, gradients);
    }
    if (epoch == epochs[networks.size()]) networks.push_back(own);
  }
  return networks;
}

RowMatrixF PairNetwork::rows_of(size_t platform) const {
  RowMatrixF rows(programs_->rows(), programs_->cols() + facts_.cols());
  rows.leftCols(programs_->cols()) = *programs_;
  rows.rightCols(facts_.cols()).rowwise() = facts_.row(static_cast<Eigen::Index>(platform));
  return rows;
}

Eigen::VectorXd PairNetwork::log_times_of(const RowMatrixF& output) const {
  return means_ + deviation_ * output.col(0).cast<double>();
}

Result<Eigen::VectorXd> PairNetwork::forecast(size_t platform) const {
  const auto output = network_.forward(rows_of(platform));
  if (!output) return output.error();
  return log_times_of(*output);
}

Result<std::vector<Eigen::VectorXd>> PairNetwork::fine_tuned(size_t platform, const std::vector<Eigen::Index>& where,
                                                             const Eigen::VectorXd& log_times, const FineTuning& tuning,
                                                             const std::vector<int>& steps) const {
  DenseNetwork moved = network_;
  RowMatrixF rows = rows_of(platform);
  if (tuning.head_alone) {  // the trunk stays: what it says is computed once
    DenseTrace trunk;
    trunk.inputs() = std::move(rows);
    if (Status status = network_.forward(trunk); !status) return status.error();
    rows = trunk.activations[network_.layers().size() - 1];
    moved = DenseNetwork();
    moved.layers().push_back(network_.layers().back());
  }
  const auto count = static_cast<Eigen::Index>(where.size());
  RowMatrixF targets(count, 1);
  for (Eigen::Index i = 0; i < count; ++i) {
    targets(i, 0) = static_cast<float>((log_times(i) - means_(where[static_cast<size_t>(i)])) / deviation_);
  }
  const RowMatrixF weights = RowMatrixF::Ones(count, 1);
  DenseTrace trace;
  trace.inputs() = rows(where, Eigen::all);
  if (Status status = moved.forward(trace); !status) return status.error();
  if (count > 0) {
    moved.layers().back().bias(0) +=
        (targets - trace.output()).sum() / (static_cast<float>(count) + static_cast<float>(tuning.level_prior));
  }
  Adam adam({.learning_rate = tuning.learning_rate});
  std::vector<DenseLayer> gradients;
  std::vector<Eigen::VectorXd> result;
  result.reserve(steps.size());
  for (int step = 0; result.size() < steps.size(); ++step) {
    while (result.size() < steps.size() && steps[result.size()] == step) {
      const auto output = moved.forward(rows);
      if (!output) return output.error();
      result.push_back(log_times_of(*output));
    }
    if (count == 0) {
      result.resize(steps.size(), result.empty() ? means_ : result.back());
      break;
    }
    if (Status status = moved.forward(trace); !status) return status.error();
    weighted_squared_error(trace.output(), targets, weights, static_cast<double>(count), trace.output_gradient);
    if (Status status = moved.backward(trace, gradients, false); !status) return status.error();
    adam.step(moved, gradients);
  }
  return result;
}

}  // namespace perfcast::program::adapt_study
