#pragma once
// How VaeRegressor::train goes about it: one object per training run. See vae_regressor.h for the stages.

#include <cstdint>
#include <string>
#include <vector>

#include "learn/neural/vae_checkpoint.h"
#include "learn/neural/vae_regressor.h"

namespace perfcast {

class VaeTrainer {
 public:
  VaeTrainer(const VaeRegressorConfig& config, const VaeTrainingHooks& hooks) : config_(config), hooks_(hooks) {}

  // Checks and takes the data in, makes the networks or takes them from the checkpoint.
  Status prepare(const VaeTrainingData& data);
  Status run();
  VaeRegressor result() const;

 private:
  using Rows = std::vector<Eigen::Index>;

  Status take_targets(const VaeTrainingData& data);
  Status choose_rows(const VaeTrainingData& data);
  void make_networks();
  Status resume();
  uint32_t fingerprint(const VaeTrainingData& data) const;

  VaeStage stage() const { return static_cast<VaeStage>(state_.stage); }
  int64_t epochs_of(VaeStage stage) const;
  const Rows& rows_of(VaeStage stage) const { return stage == VaeStage::kPretrain ? first_rows_ : train_rows_; }
  bool finished() const;
  void begin_stage();
  Status run_epoch();
  Status train_vae(const Rows& rows, bool feedback, double kl_weight, Random& random, VaeProgress& progress);
  Status train_head(const Rows& rows, Random& random, VaeProgress& progress);
  Status validate(VaeProgress& progress);
  Status save(bool stage_over);
  Status save_result();

  // Head on the latent, or on the inputs without a VAE: fills head_trace_ to its output and output gradient.
  Result<double> head_loss(const Rows& rows);
  void gather(const Rows& rows);

  VaeRegressorConfig config_;
  const VaeTrainingHooks& hooks_;
  RowMatrixF inputs_, targets_, weights_;  // N x 2D, N x J scaled, N x J
  Rows train_rows_, first_rows_, validation_rows_;
  double row_weight_ = 1;  // mean sum of a training row's weights
  int64_t columns_ = 0;
  Eigen::RowVectorXf mean_;
  float scale_ = 1;

  VaeTrainingState state_;
  Vae vae_;
  Adam encoder_adam_, decoder_adam_, head_adam_;
  VaePass pass_;
  DenseTrace head_trace_;
  VaeGradients vae_gradients_;
  std::vector<DenseLayer> head_gradients_;
};

}  // namespace perfcast
