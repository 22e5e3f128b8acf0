// What a training run starts from: checked data, chosen rows, networks new or resumed.

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/json.h"
#include "base/random.h"
#include "learn/neural/vae_trainer.h"

namespace perfcast {
namespace {

Error bad_training_data(const std::string& message, const std::string& where, const std::string& expected) {
  return Error{"bad-training-data", message, where, expected};
}

uint32_t add_bytes(uint32_t sum, const void* bytes, size_t n) {
  return crc32_of({static_cast<const char*>(bytes), n}, sum);
}

uint32_t add_matrix(uint32_t sum, const RowMatrixF& matrix) {
  const Eigen::Index sizes[] = {matrix.rows(), matrix.cols()};
  return add_bytes(add_bytes(sum, sizes, sizeof(sizes)), matrix.data(),
                   static_cast<size_t>(matrix.size()) * sizeof(float));
}

bool same_shape(const std::vector<DenseLayer>& a, const std::vector<DenseLayer>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const DenseLayer& one, const DenseLayer& other) {
    return one.weights.rows() == other.weights.rows() && one.weights.cols() == other.weights.cols() &&
           one.bias.size() == other.bias.size();
  });
}

bool fits(const AdamState& adam, const DenseNetwork& network) {
  if (adam.first.empty() && adam.second.empty()) return adam.steps == 0;
  return adam.steps > 0 && same_shape(adam.first, network.layers()) && same_shape(adam.second, network.layers());
}

}  // namespace

Status VaeTrainer::prepare(const VaeTrainingData& data) {
  if (data.x.rows() == 0 || data.x.cols() == 0) {
    return bad_training_data("there is nothing to train on", "x", "at least one row and one column");
  }
  auto inputs = masked_inputs(data.x, data.mask);
  if (!inputs) return inputs.error();
  inputs_ = std::move(*inputs);
  columns_ = data.x.cols();
  if (auto status = choose_rows(data); !status) return status;
  if (auto status = take_targets(data); !status) return status;
  make_networks();
  state_.run = fingerprint(data);
  return hooks_.resume.empty() ? Status{} : resume();
}

Status VaeTrainer::choose_rows(const VaeTrainingData& data) {
  const Eigen::Index n = data.x.rows();
  if (!data.first_stage.empty() && data.first_stage.size() != static_cast<size_t>(n)) {
    return bad_training_data("the first stage is told for " + std::to_string(data.first_stage.size()) + " rows",
                             "first_stage", "for each of " + std::to_string(n) + ", or none");
  }
  std::vector<bool> held_out(static_cast<size_t>(n), false);
  if (!data.validation_rows.empty()) {
    for (const int64_t row : data.validation_rows) {
      if (row < 0 || row >= n) {
        return bad_training_data("there is no row " + std::to_string(row), "validation_rows",
                                 "0 to " + std::to_string(n - 1));
      }
      held_out[static_cast<size_t>(row)] = true;
    }
  } else {
    Rows order(static_cast<size_t>(n));
    for (Eigen::Index r = 0; r < n; ++r) order[static_cast<size_t>(r)] = r;
    Random random(config_.seed ^ 0x5EED);
    random.shuffle(order);
    const auto share = static_cast<size_t>(std::max(config_.validation_share, 0.0) * static_cast<double>(n));
    for (size_t i = 0; i < share; ++i) held_out[static_cast<size_t>(order[i])] = true;
  }
  for (Eigen::Index r = 0; r < n; ++r) {
    const auto at = static_cast<size_t>(r);
    (held_out[at] ? validation_rows_ : train_rows_).push_back(r);
    if (!held_out[at] && !data.first_stage.empty() && data.first_stage[at]) first_rows_.push_back(r);
  }
  if (train_rows_.empty())
    return bad_training_data("all rows are held out", "validation_rows", "some rows to train on");
  return {};
}

Status VaeTrainer::take_targets(const VaeTrainingData& data) {
  const RowMatrixF& y = data.y;
  if (y.rows() != data.x.rows() || y.cols() == 0 || data.weights.rows() != y.rows() ||
      data.weights.cols() != y.cols()) {
    return bad_training_data("targets and their weights don't fit the rows", "y",
                             std::to_string(data.x.rows()) + " rows and as many columns each");
  }
  for (Eigen::Index r = 0; r < y.rows(); ++r) {
    for (Eigen::Index c = 0; c < y.cols(); ++c) {
      const float weight = data.weights(r, c);
      if (std::isfinite(weight) && weight >= 0 && (weight == 0 || std::isfinite(y(r, c)))) continue;
      return bad_training_data("a target or its weight can't be",
                               "row " + std::to_string(r) + ", column " + std::to_string(c),
                               "a finite weight of at least 0, and a finite target where it isn't 0");
    }
  }
  weights_ = data.weights;
  targets_ = (weights_.array() > 0).select(y, 0.0f);
  const Eigen::MatrixXd train = targets_(train_rows_, Eigen::all).cast<double>();
  const Eigen::MatrixXd weights = weights_(train_rows_, Eigen::all).cast<double>();
  const Eigen::RowVectorXd totals = weights.colwise().sum();
  for (Eigen::Index c = 0; c < totals.size(); ++c) {
    if (totals(c) > 0) continue;
    return bad_training_data("no row to train on has a target in column " + std::to_string(c), "y",
                             "a measured target in each column outside the held-out rows");
  }
  const Eigen::RowVectorXd mean = weights.cwiseProduct(train).colwise().sum().cwiseQuotient(totals);
  const double variance = weights.cwiseProduct((train.rowwise() - mean).cwiseAbs2()).sum() / totals.sum();
  mean_ = mean.cast<float>();
  scale_ = variance > 1e-20 ? static_cast<float>(std::sqrt(variance)) : 1.0f;
  row_weight_ = totals.sum() / static_cast<double>(train_rows_.size());
  targets_ = (weights_.array() > 0).select((targets_.rowwise() - mean_) / scale_, 0.0f);
  if (!validation_rows_.empty() && weights_(validation_rows_, Eigen::all).sum() <= 0) {
    return bad_training_data("no held-out row has a target", "validation_rows",
                             "rows with measured targets, or none held out");
  }
  return {};
}

void VaeTrainer::make_networks() {
  std::vector<int64_t> sizes = {2 * columns_};
  if (config_.use_vae) {
    vae_ = Vae({columns_, config_.hidden, config_.latent, config_.fixed_sigma}, config_.seed);
    sizes[0] = config_.latent + (config_.head_reads_inputs ? 2 * columns_ : 0);
  }
  sizes.insert(sizes.end(), config_.head_hidden.begin(), config_.head_hidden.end());
  sizes.push_back(targets_.cols());
  state_.head = DenseNetwork(sizes, config_.seed + 1);
}

uint32_t VaeTrainer::fingerprint(const VaeTrainingData& data) const {
  const std::string settings = to_json(config_).dump();
  uint32_t sum = add_bytes(0, settings.data(), settings.size());
  for (const RowMatrixF* matrix : {&inputs_, &targets_, &weights_}) sum = add_matrix(sum, *matrix);
  for (const bool first : data.first_stage) sum = add_bytes(sum, first ? "1" : "0", 1);
  return add_bytes(sum, validation_rows_.data(), validation_rows_.size() * sizeof(Eigen::Index));
}

Status VaeTrainer::resume() {
  auto loaded = vae_training_state_from_bytes(hooks_.resume, "checkpoint");
  if (!loaded) return loaded.error();
  const bool have_best = loaded->best_epoch >= 0 && loaded->stage != static_cast<int64_t>(VaeStage::kDone);
  const bool same =
      loaded->run == state_.run && loaded->stage >= 0 && loaded->stage <= static_cast<int64_t>(VaeStage::kDone) &&
      loaded->epoch >= 0 && loaded->epoch <= epochs_of(static_cast<VaeStage>(loaded->stage)) &&
      same_shape(loaded->encoder.layers(), vae_.encoder().layers()) &&
      same_shape(loaded->decoder.layers(), vae_.decoder().layers()) &&
      same_shape(loaded->head.layers(), state_.head.layers()) && fits(loaded->encoder_adam, loaded->encoder) &&
      fits(loaded->decoder_adam, loaded->decoder) && fits(loaded->head_adam, loaded->head) &&
      (!have_best || (same_shape(loaded->best_head.layers(), state_.head.layers()) &&
                      same_shape(loaded->best_encoder.layers(), vae_.encoder().layers())));
  if (!same) {
    return Error{"checkpoint-mismatch", "the checkpoint is of a training run with other settings or other data",
                 "checkpoint", "the settings and data that it was written with, or train from the start"};
  }
  state_ = std::move(*loaded);
  vae_.encoder() = state_.encoder;
  vae_.decoder() = state_.decoder;
  return {};
}

}  // namespace perfcast
