#pragma once
// The paper's pipeline on matrices, in three stages:
//   pretrain  the VAE on the rows of the first stage (the CPUs', or the first vendor's)
//   vae       the VAE on all rows; in chosen epochs the regressor's loss on the drawn latent joins and its gradient
//             flows into the encoder
//   head      the dense network from the latent's mean to y; the encoder frozen or fine-tuned; stopped early on
//   held-out
//             rows, which no stage trains on
// The same data, configuration and one thread give the same bytes, resumed from a checkpoint or not.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/neural/vae.h"
#include "learn/neural/vae_regressor_config.h"

namespace perfcast {

struct VaeTrainingData {
  RowMatrixF x, mask;                    // N x D, columns standardised; mask 1 present, 0 absent
  RowMatrixF y, weights;                 // N x J; weight 0: not measured, y is not read
  std::vector<bool> first_stage;         // N, or empty: none
  std::vector<int64_t> validation_rows;  // empty: config.validation_share of the rows, drawn by the seed
};

enum class VaeStage { kPretrain, kVae, kHead, kDone };
std::string to_text(VaeStage stage);  // "pretrain", "vae", "head", "done"

// Means over one epoch's batches; not-a-number where a loss has no part in the stage.
struct VaeProgress {
  VaeStage stage = VaeStage::kPretrain;
  int64_t epoch = 0, epochs = 0;  // done in this stage, at most
  double reconstruction = 0, kl = 0, sigma = 0, kl_weight = 0;
  double regression = 0;  // half the weighted mean of squared errors of scaled targets
  double validation = 0;  // held-out rows, no noise: VAE stages reconstruction + kl; head: as regression
};

// "vae 3/100: reconstruction 41.2, KL 3.1, regression 0.02, validation 44.7": the losses that there are.
std::string to_text(const VaeProgress& progress);

struct VaeTrainingHooks {
  std::function<void(const VaeProgress&)> progress = nullptr;  // after each epoch
  // Bytes of a checkpoint, after every `save_every` epochs and each stage. A failure ends the training with it.
  std::function<Status(const std::string&)> save = nullptr;
  int64_t save_every = 10;
  std::string resume = {};  // bytes of a checkpoint of the same data and configuration; empty: from the start
  int threads = 1;
};

class VaeRegressor {
 public:
  // "bad-training-data", "bad-config", "bad-checkpoint", "checkpoint-mismatch" (another configuration or data),
  // "training-diverged".
  static Result<VaeRegressor> train(const VaeTrainingData& data, const VaeRegressorConfig& config,
                                    const VaeTrainingHooks& hooks = {});

  // N x J, on the scale of the training's y.
  Result<RowMatrixF> predict(const RowMatrixF& x, const RowMatrixF& mask) const;
  // N x L: the latent's mean; without a VAE the masked inputs.
  Result<RowMatrixF> latent(const RowMatrixF& x, const RowMatrixF& mask) const;

  const VaeRegressorConfig& config() const { return config_; }
  const Vae& vae() const { return vae_; }
  const DenseNetwork& head() const { return head_; }
  const Eigen::RowVectorXf& target_mean() const { return mean_; }
  float target_scale() const { return scale_; }
  int64_t head_epochs() const { return head_epochs_; }  // after which validation was best, or all

 private:
  friend class VaeTrainer;
  int64_t columns_ = 0;
  VaeRegressorConfig config_;
  Vae vae_;  // empty where !config_.use_vae
  DenseNetwork head_;
  Eigen::RowVectorXf mean_;  // J, of y
  float scale_ = 1;          // one for all columns
  int64_t head_epochs_ = 0;
};

}  // namespace perfcast
