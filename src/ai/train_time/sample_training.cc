#include "ai/train_time/sample_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "base/text.h"
#include "learn/neural/dense_network.h"
#include "learn/neural/vae_regressor.h"

namespace perfcast::ai {
namespace {

constexpr uint64_t kDataSeed = 20260101;
constexpr int64_t kInputs = 8, kTrainRows = 32768, kTestRows = 4000, kBatchRows = 128;
constexpr double kWrongLabels = 0.02;

// A smooth border between the classes that no line draws.
double border(const Eigen::RowVectorXf& row) {
  return std::sin(2.0 * static_cast<double>(row[0])) + static_cast<double>(row[1] * row[2]) -
         0.7 * static_cast<double>(row[3]) + 0.5 * std::cos(3.0 * static_cast<double>(row[4])) +
         0.4 * static_cast<double>(std::abs(row[5]));
}

TrainingBatch made_up_rows(int64_t rows, Random& random) {
  TrainingBatch batch;
  batch.inputs.resize(rows, kInputs);
  batch.targets.resize(rows, 1);
  batch.weights = RowMatrixF::Ones(rows, 1);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < kInputs; ++c) batch.inputs(r, c) = static_cast<float>(random.normal());
    const bool above = border(batch.inputs.row(r)) > 0;
    const bool wrong = random.uniform() < kWrongLabels;
    batch.targets(r, 0) = above != wrong ? 1.0f : -1.0f;
  }
  return batch;
}

Status run_mlp(uint64_t seed, int64_t epochs, const std::function<void(const std::string&)>& print) {
  Random data(kDataSeed);
  const TrainingBatch train = made_up_rows(kTrainRows, data), test = made_up_rows(kTestRows, data);
  DenseNetwork network({kInputs, 64, 64, 1}, seed);
  Adam adam;
  Random random(seed);
  std::vector<int64_t> order(static_cast<size_t>(kTrainRows));
  std::iota(order.begin(), order.end(), int64_t{0});
  TrainingBatch batch;
  std::vector<DenseLayer> gradients;
  for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
    random.shuffle(order);
    double loss = 0;
    for (int64_t from = 0; from < kTrainRows; from += kBatchRows) {
      const std::vector<int64_t> rows(order.begin() + from, order.begin() + from + kBatchRows);
      batch.inputs = train.inputs(rows, Eigen::all);
      batch.targets = train.targets(rows, Eigen::all);
      batch.weights = train.weights(rows, Eigen::all);
      const auto part = network.gradient(batch, gradients);
      if (!part) return part.error();
      loss += *part * static_cast<double>(kBatchRows) / static_cast<double>(kTrainRows);
      adam.step(network, gradients);
    }
    const auto output = network.forward(test.inputs);
    if (!output) return output.error();
    int64_t right = 0;
    for (int64_t r = 0; r < kTestRows; ++r) right += ((*output)(r, 0) > 0) == (test.targets(r, 0) > 0) ? 1 : 0;
    print(fmt::format(R"({{"epoch": {}, "accuracy": {:.5f}, "train_loss": {:.6f}}})", epoch,
                      static_cast<double>(right) / static_cast<double>(kTestRows), loss));
  }
  return {};
}

Status run_vae(uint64_t seed, int64_t epochs, const std::function<void(const std::string&)>& print) {
  constexpr int64_t kRows = 1500, kColumns = 12, kOutputs = 3, kHidden = 4;
  Random data(kDataSeed);
  // Inputs and outputs hang on four numbers that are not seen.
  VaeTrainingData rows;
  RowMatrixF hidden(kRows, kHidden), mixing(kHidden, kColumns);
  const auto fill = [&data](RowMatrixF& matrix) {
    for (int64_t r = 0; r < matrix.rows(); ++r) {
      for (int64_t c = 0; c < matrix.cols(); ++c) matrix(r, c) = static_cast<float>(data.normal());
    }
  };
  fill(hidden);
  fill(mixing);
  RowMatrixF noise(kRows, kColumns);
  fill(noise);
  rows.x = (hidden * mixing).array().tanh().matrix() + 0.1f * noise;
  rows.mask = RowMatrixF::Ones(kRows, kColumns);
  rows.y.resize(kRows, kOutputs);
  for (int64_t r = 0; r < kRows; ++r) {
    rows.y(r, 0) = hidden(r, 0) * hidden(r, 1);
    rows.y(r, 1) = std::sin(hidden(r, 2));
    rows.y(r, 2) = hidden(r, 3);
  }
  rows.weights = RowMatrixF::Ones(kRows, kOutputs);
  VaeRegressorConfig config;
  config.seed = seed;
  config.batch = 64;
  config.latent = 8;
  config.hidden = {64};
  config.head_hidden = {64, 64};
  config.pretrain = false;
  config.vae_epochs = std::max<int64_t>(2, epochs / 4);
  config.head_epochs = epochs;
  config.patience = epochs;
  config.head_learning_rate = 1e-3;
  VaeTrainingHooks hooks;
  hooks.progress = [&print](const VaeProgress& progress) {
    if (progress.stage != VaeStage::kHead) return;
    print(fmt::format(R"({{"epoch": {}, "loss": {:.6f}, "train_loss": {:.6f}}})", progress.epoch, progress.validation,
                      progress.regression));
  };
  const auto trained = VaeRegressor::train(rows, config, hooks);
  return trained ? Status() : Status(trained.error());
}

}  // namespace

const std::vector<std::string>& sample_training_names() {
  static const std::vector<std::string> names = {"mlp", "vae-dnn"};
  return names;
}

std::string sample_training_metric(const std::string& name) { return name == "mlp" ? "accuracy" : "loss"; }

Status run_sample_training(const std::string& name, uint64_t seed, int64_t epochs,
                           const std::function<void(const std::string&)>& print) {
  if (name == "mlp") return run_mlp(seed, epochs, print);
  if (name == "vae-dnn") return run_vae(seed, epochs, print);
  return usage_error("bad-usage", "there is no sample training '" + printable(name) + "'", "--sample",
                     "one of: " + join(sample_training_names(), ", "));
}

}  // namespace perfcast::ai
