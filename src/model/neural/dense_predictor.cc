#include "model/neural/dense_predictor.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/random.h"
#include "model/bundle.h"
#include "model/neural/dense_kernels.h"

namespace perfcast {
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
  features_ = ProgramFeatures::fit(table, targets->weights);
  const RowMatrixF rows = features_.rows(profiles_of(table)).cast<float>();
  mean_ = weighted_mean(targets->log_rpv, targets->weights);
  const Eigen::MatrixXd centred = targets->log_rpv.rowwise() - mean_.transpose();

  use_threads(options.threads);
  const auto epochs = choose_epochs(rows, *targets, centred, options.seed);
  if (!epochs) return epochs.error();
  epochs_ = *epochs;
  std::vector<Eigen::Index> all;
  for (Eigen::Index p = 0; p < rows.rows(); ++p) all.push_back(p);
  const auto network = train(batch_of(rows, *targets, centred, all), epochs_, options.seed);
  if (!network) return network.error();
  network_ = PackedNetwork(*network);
  return {};
}

Eigen::MatrixXd DensePredictor::predict(const std::vector<const Profile*>& profiles) const {
  const RowMatrixF rows = features_.rows(profiles).cast<float>();
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

void DensePredictor::save(TensorMap& tensors) const {
  features_.save(tensors);
  tensors.put("mean", mean_);
  const auto column = [](const std::vector<float>& values) -> Eigen::MatrixXf {
    return Eigen::Map<const Eigen::VectorXf>(values.data(), static_cast<Eigen::Index>(values.size()));
  };
  tensors.put_json("layers", network_.layers().size());
  for (size_t i = 0; i < network_.layers().size(); ++i) {
    const PackedNetwork::Layer& layer = network_.layers()[i];
    const std::string number = std::to_string(i);
    const std::vector<int32_t>& words = layer.weights.words;
    tensors.put_bytes("weights" + number,
                      std::string(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(int32_t)));
    tensors.put_float("scales" + number, column(layer.weights.scales));
    tensors.put_float("bias" + number, column(layer.bias));
  }
}

Status DensePredictor::load(const TensorMap& tensors) {
  if (auto status = features_.load(tensors); !status) return status;
  const int64_t columns = features_.columns();
  const auto mean = tensors.get("mean", -1, 1);
  if (!mean) return mean.error();
  const auto layers = tensors.get_json("layers");
  if (!layers) return layers.error();
  if (!layers->is_number_integer() || layers->get<int64_t>() < 1 || layers->get<int64_t>() > 64) {
    return Error{"bad-bundle", "the number of layers is impossible", "layers", "1 to 64"};
  }
  PackedNetwork network;
  int64_t inputs = columns;
  for (int64_t i = 0; i < layers->get<int64_t>(); ++i) {
    const std::string number = std::to_string(i);
    const auto weights = tensors.get_bytes("weights" + number);
    if (!weights) return weights.error();
    const auto scales = tensors.get_float("scales" + number, inputs, 1);
    if (!scales) return scales.error();
    const auto bias = tensors.get_float("bias" + number, -1, 1);
    if (!bias) return bias.error();
    PackedNetwork::Layer layer;
    layer.weights.inputs = inputs;
    layer.weights.outputs = bias->rows();
    layer.weights.words.resize(weights->size() / sizeof(int32_t));
    std::memcpy(layer.weights.words.data(), weights->data(), layer.weights.words.size() * sizeof(int32_t));
    layer.weights.scales.assign(scales->data(), scales->data() + scales->size());
    layer.bias.assign(bias->data(), bias->data() + bias->size());
    if (auto status = network.append(std::move(layer)); !status) return status;
    inputs = bias->rows();
  }
  if (inputs != mean->rows()) {
    return Error{"bad-bundle", "the network forecasts another number of platforms than its mean", "mean",
                 "a bundle written by perfcast train"};
  }
  mean_ = mean->col(0);
  network_ = std::move(network);
  return {};
}

}  // namespace perfcast
