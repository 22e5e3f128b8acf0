#pragma once
// All settings of the VAE and the network on its latent, with the switches that leave one ingredient out.

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "learn/neural/kl_schedule.h"

namespace perfcast {

enum class RateSchedule { kConstant, kCosine };  // cosine: from the rate to 0 over the stage

struct VaeRegressorConfig {
  uint64_t seed = 1;
  int64_t batch = 256;  // rows; 0: as batch_rows() has it
  // Of the rows, held out to stop by; 0: train all epochs. -1 leaves it to the family (vae_predictor.h).
  double validation_share = 0.1;
  RateSchedule rate_schedule = RateSchedule::kCosine;

  // The VAE.
  bool use_vae = true;  // false: the network reads masked inputs
  int64_t latent = 16;
  std::vector<int64_t> hidden = {256, 256};
  double fixed_sigma = 0;  // 0: calibrated
  KlSchedule kl_schedule = KlSchedule::kCyclical;
  int64_t kl_cycles = 4;
  double kl_ramp = 0.5;
  double vae_learning_rate = 1e-3;
  bool pretrain = true;  // first on the first-stage rows
  int64_t pretrain_epochs = 50;
  int64_t vae_epochs = 100;

  // The regressor's loss joins the VAE's in its epochs [feedback_from, feedback_to), 0-based.
  bool use_feedback = true;
  double feedback_weight = 10;
  int64_t feedback_from = -1;  // -1: from the middle
  int64_t feedback_to = -1;    // -1: to the end

  // The network on the latent's mean.
  std::vector<int64_t> head_hidden = {1024, 1024, 1024};
  bool head_reads_inputs = false;  // the masked inputs beside the latent
  bool fine_tune_encoder = false;
  bool sample_latent = false;  // train on draws of the latent instead of its mean
  double head_learning_rate = 3e-4;
  double weight_decay = 1e-2;  // of the head and an encoder fine-tuned with it
  int64_t head_epochs = 200;
  int64_t patience = 20;  // epochs without a better validation

  bool operator==(const VaeRegressorConfig&) const = default;
};

Json to_json(const VaeRegressorConfig& config);
// Absent keys keep their defaults. "bad-config": an unknown key, or a value that can't be; "bad-json-field": another
// kind of value. `source` names where the JSON came from.
Result<VaeRegressorConfig> vae_regressor_config_from_json(const Json& json, const std::string& source);
// The batch; where the configuration leaves it open, a quarter of the rows, but 8 to 64: many steps matter more than
// their noise.
int64_t batch_rows(const VaeRegressorConfig& config, int64_t rows);
// "bad-config" naming the setting.
Status check(const VaeRegressorConfig& config);

}  // namespace perfcast
