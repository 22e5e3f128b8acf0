#include "program/model/neural/dense_predictor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/random.h"
#include "learn/neural/dense_kernels.h"
#include "learn/neural/network_attribution.h"
#include "learn/neural/packed_vae_regressor.h"
#include "learn/tensors/tensor_map.h"

namespace perfcast::program {
namespace {

constexpr double kHeldOutShare = 0.2;    // of the families, to stop by
constexpr int64_t kFewestFamilies = 5;   // with fewer none is held out
constexpr int64_t kEpochsUntested = 40;  // then
constexpr float kTargetScale = 5;        // log RPV is some 0.2: the network sees about 1

TrainingBatch batch_of(const RowMatrixF& rows, const Targets& targets, const Eigen::MatrixXd& centred,
                       const std::vector<Eigen::Index>& programs) {
  TrainingBatch batch;
  batch.inputs = rows(programs, Eigen::all);
  batch.targets = kTargetScale * centred(programs, Eigen::all).cast<float>();
  const Eigen::MatrixXd weights = targets.weights.asDiagonal() * targets.present;
  batch.weights = weights(programs, Eigen::all).cast<float>();
  return batch;
}

std::vector<int64_t> layer_sizes(int64_t inputs, const std::vector<int64_t>& hidden, int64_t outputs) {
  std::vector<int64_t> sizes = {inputs};
  sizes.insert(sizes.end(), hidden.begin(), hidden.end());
  sizes.push_back(outputs);
  return sizes;
}

}  // namespace

Result<DenseNetwork> DensePredictor::train(const TrainingBatch& batch, int64_t epochs, uint64_t seed) const {
  DenseNetwork network(layer_sizes(batch.inputs.cols(), options_.hidden, batch.targets.cols()), seed);
  Adam adam({.learning_rate = options_.learning_rate, .weight_decay = options_.weight_decay});
  std::vector<DenseLayer> gradients;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    if (auto loss = network.gradient(batch, gradients); !loss) return loss.error();
    adam.step(network, gradients);
  }
  return network;
}

Result<DenseNetwork> DensePredictor::train_in_batches(const TrainingBatch& all, uint64_t seed) const {
  DenseNetwork network(layer_sizes(all.inputs.cols(), options_.hidden, all.targets.cols()), seed);
  Adam adam({.learning_rate = options_.learning_rate_of_many, .weight_decay = options_.weight_decay_of_many});
  std::vector<Eigen::Index> order(static_cast<size_t>(all.inputs.rows()));
  for (size_t r = 0; r < order.size(); ++r) order[r] = static_cast<Eigen::Index>(r);
  const auto size = static_cast<size_t>(options_.batch);
  const size_t batches = (order.size() + size - 1) / size;
  Random random(seed);
  TrainingBatch batch;
  std::vector<DenseLayer> gradients;
  for (int64_t epoch = 0; epoch < options_.epochs_of_many; ++epoch) {
    const double done = static_cast<double>(epoch) / static_cast<double>(options_.epochs_of_many);
    adam.set_learning_rate(options_.learning_rate_of_many *
                           static_cast<float>(0.5 + 0.5 * std::cos(std::numbers::pi * done)));
    random.shuffle(order);
    for (size_t b = 0; b < batches; ++b) {
      const auto from = static_cast<std::ptrdiff_t>(b * order.size() / batches);
      const auto to = static_cast<std::ptrdiff_t>((b + 1) * order.size() / batches);
      const std::vector<Eigen::Index> rows(order.begin() + from, order.begin() + to);
      batch.inputs = all.inputs(rows, Eigen::all);
      batch.targets = all.targets(rows, Eigen::all);
      batch.weights = all.weights(rows, Eigen::all);
      if (auto loss = network.gradient(batch, gradients); !loss) return loss.error();
      adam.step(network, gradients);
    }
  }
  return network;
}

// Trains without some families until forecasts of those stop getting better.
Result<int64_t> DensePredictor::choose_epochs(const RowMatrixF& rows, const Targets& targets,
                                              const Eigen::MatrixXd& centred, uint64_t seed) const {
  if (targets.families < kFewestFamilies) return std::min(kEpochsUntested, options_.most_epochs);
  std::vector<int64_t> families(static_cast<size_t>(targets.families));
  for (size_t f = 0; f < families.size(); ++f) families[f] = static_cast<int64_t>(f);
  Random random(seed ^ 0x5EED);
  random.shuffle(families);
  const auto held_out = static_cast<size_t>(kHeldOutShare * static_cast<double>(targets.families));
  families.resize(std::max<size_t>(held_out, 1));
  std::vector<Eigen::Index> train;
  std::vector<Eigen::Index> test;
  for (size_t p = 0; p < targets.family.size(); ++p) {
    const bool out = std::find(families.begin(), families.end(), targets.family[p]) != families.end();
    (out ? test : train).push_back(static_cast<Eigen::Index>(p));
  }
  const TrainingBatch seen = batch_of(rows, targets, centred, train);
  const TrainingBatch unseen = batch_of(rows, targets, centred, test);
  DenseNetwork network(layer_sizes(rows.cols(), options_.hidden, centred.cols()), seed);
  Adam adam({.learning_rate = options_.learning_rate, .weight_decay = options_.weight_decay});
  std::vector<DenseLayer> gradients;
  double least = std::numeric_limits<double>::infinity();
  int64_t best = 0;
  for (int64_t epoch = 0; epoch <= options_.most_epochs && epoch - best <= options_.patience; ++epoch) {
    auto predicted = network.forward(unseen.inputs);
    if (!predicted) return predicted.error();
    const RowMatrixF error = *predicted - unseen.targets;
    const auto loss = static_cast<double>(error.cwiseAbs2().cwiseProduct(unseen.weights).sum());
    if (loss < least) {
      least = loss;
      best = epoch;
    }
    if (auto seen_loss = network.gradient(seen, gradients); !seen_loss) return seen_loss.error();
    adam.step(network, gradients);
  }
  return best;
}

Status DensePredictor::fit(const TrainingTable& table, const FitOptions& options) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  inputs_ = StandardisedInputs::fit(table, targets->weights);
  const RowMatrixF rows = inputs_.rows(profiles_of(table)).cast<float>();
  mean_ = weighted_mean(targets->log_rpv, targets->weights);
  const Eigen::MatrixXd centred = targets->log_rpv.rowwise() - mean_.transpose();

  use_threads(options.threads);
  std::vector<Eigen::Index> every;
  for (Eigen::Index p = 0; p < rows.rows(); ++p) every.push_back(p);
  const TrainingBatch all = batch_of(rows, *targets, centred, every);
  const bool many = rows.rows() >= options_.many_rows;
  const auto epochs =
      many ? Result<int64_t>(options_.epochs_of_many) : choose_epochs(rows, *targets, centred, options.seed);
  if (!epochs) return epochs.error();
  epochs_ = *epochs;
  const auto network = many ? train_in_batches(all, options.seed) : train(all, epochs_, options.seed);
  if (!network) return network.error();
  network_ = PackedNetwork(*network);
  return {};
}

Eigen::MatrixXd DensePredictor::predict(const std::vector<const Profile*>& profiles) const {
  const RowMatrixF rows = inputs_.rows(profiles).cast<float>();
  Eigen::MatrixXd result(rows.rows(), outputs());
  std::vector<float> output(static_cast<size_t>(outputs()));
  for (Eigen::Index r = 0; r < rows.rows(); ++r) {
    network_.predict({rows.data() + r * rows.cols(), static_cast<size_t>(rows.cols())}, output);
    for (Eigen::Index j = 0; j < result.cols(); ++j) {
      result(r, j) = mean_(j) + static_cast<double>(output[static_cast<size_t>(j)]) / kTargetScale;
    }
  }
  result.colwise() -= result.rowwise().mean().eval();
  return result;
}

Result<FeatureAttribution> DensePredictor::attribute_features(const AttributionRequest& request) const {
  AttributedRows rows = attributed_rows(inputs_, request);
  // As predict() rounds them.
  rows.own = rows.own.cast<float>().cast<double>().eval();
  rows.reference = rows.reference.cast<float>().cast<double>().eval();
  const PlainNetwork network = plain_network(network_);
  const double scale = 1 / static_cast<double>(kTargetScale);
  const Eigen::MatrixXd log = integrated_slopes(
      [&](const Eigen::RowVectorXd& from, const Eigen::RowVectorXd& to) -> Eigen::MatrixXd {
        return scale * mean_slopes(network, from, to);
      },
      rows.own, rows.reference, kSettledLog);
  return attribution_of(*this, request, AttributionMethod::kIntegratedGradients, inputs_.chosen().names(),
                        centred_over_platforms(log));
}

void DensePredictor::save(TensorMap& tensors) const {
  inputs_.save(tensors);
  tensors.put("mean", mean_);
  save_network(network_, tensors);
}

Status DensePredictor::load(const TensorMap& tensors) {
  if (auto status = inputs_.load(tensors); !status) return status;
  const int64_t columns = inputs_.columns();
  const auto mean = tensors.get("mean", -1, 1);
  if (!mean) return mean.error();
  auto network = load_network(tensors);
  if (!network) return network.error();
  if (network->inputs() != columns || network->outputs() != mean->rows()) {
    return Error{"bad-bundle", "the network reads or forecasts another number of columns than the model", "layers",
                 "a bundle written by perfcast train"};
  }
  mean_ = mean->col(0);
  network_ = std::move(*network);
  return {};
}

}  // namespace perfcast::program
