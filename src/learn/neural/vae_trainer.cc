#include "learn/neural/vae_trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "base/unknown.h"

namespace perfcast {
namespace {

// Rows in an order drawn anew, cut into batches of nearly the same size: none has a few rows only.
std::vector<std::vector<Eigen::Index>> batches(std::vector<Eigen::Index> rows, int64_t most, Random& random) {
  random.shuffle(rows);
  const auto size = static_cast<size_t>(most);
  const size_t count = (rows.size() + size - 1) / size;
  std::vector<std::vector<Eigen::Index>> result;
  for (size_t b = 0; b < count; ++b) {
    const auto from = static_cast<std::ptrdiff_t>(b * rows.size() / count);
    const auto to = static_cast<std::ptrdiff_t>((b + 1) * rows.size() / count);
    result.emplace_back(rows.begin() + from, rows.begin() + to);
  }
  return result;
}

}  // namespace

int64_t VaeTrainer::epochs_of(VaeStage stage) const {
  switch (stage) {
    case VaeStage::kPretrain:
      return config_.use_vae && config_.pretrain && !first_rows_.empty() ? config_.pretrain_epochs : 0;
    case VaeStage::kVae:
      return config_.use_vae ? config_.vae_epochs : 0;
    case VaeStage::kHead:
      return config_.head_epochs;
    case VaeStage::kDone:
      break;
  }
  return 0;
}

bool VaeTrainer::finished() const {
  if (state_.epoch >= epochs_of(stage())) return true;
  return stage() == VaeStage::kHead && state_.best_epoch >= 0 && state_.epoch - state_.best_epoch > config_.patience;
}

// Adam's moments are of one loss: each stage, which has another, starts without.
void VaeTrainer::begin_stage() {
  const bool head = stage() == VaeStage::kHead;
  const auto decay = static_cast<float>(config_.weight_decay);
  encoder_adam_ = Adam({.weight_decay = head ? decay : 0});
  decoder_adam_ = Adam();
  head_adam_ = Adam({.weight_decay = decay});
}

Status VaeTrainer::run() {
  if (stage() == VaeStage::kDone) return {};  // resumed behind the last epoch
  begin_stage();
  encoder_adam_.set_state(state_.encoder_adam);
  decoder_adam_.set_state(state_.decoder_adam);
  head_adam_.set_state(state_.head_adam);
  while (stage() != VaeStage::kDone) {
    if (finished()) {
      ++state_.stage;
      state_.epoch = 0;
      begin_stage();
      continue;
    }
    if (auto status = run_epoch(); !status) return status;
  }
  if (state_.best_epoch >= 0) {
    state_.head = state_.best_head;
    if (config_.use_vae) vae_.encoder() = state_.best_encoder;
  }
  return save_result();
}

Status VaeTrainer::run_epoch() {
  const auto epochs = static_cast<double>(epochs_of(stage()));
  const double share = config_.rate_schedule == RateSchedule::kCosine
                           ? 0.5 * (1 + std::cos(3.14159265358979323846 * static_cast<double>(state_.epoch) / epochs))
                           : 1;
  const bool head = stage() == VaeStage::kHead;
  head_adam_.set_learning_rate(static_cast<float>(share * config_.head_learning_rate));
  encoder_adam_.set_learning_rate(
      static_cast<float>(share * (head ? config_.head_learning_rate : config_.vae_learning_rate)));
  decoder_adam_.set_learning_rate(static_cast<float>(share * config_.vae_learning_rate));

  VaeProgress progress{stage(),  state_.epoch + 1, epochs_of(stage()), kUnknown, kUnknown,
                       kUnknown, kUnknown,         kUnknown,           kUnknown};
  Random random(config_.seed * 0x9E3779B97F4A7C15u + static_cast<uint64_t>(state_.stage) * 0x100000001u +
                static_cast<uint64_t>(state_.epoch));
  const auto parts = batches(rows_of(stage()), batch_rows(config_, inputs_.rows()), random);
  const int64_t from = config_.feedback_from < 0 ? config_.vae_epochs / 2 : config_.feedback_from;
  const int64_t to = config_.feedback_to < 0 ? config_.vae_epochs : config_.feedback_to;
  const bool feedback = config_.use_feedback && stage() == VaeStage::kVae && state_.epoch >= from && state_.epoch < to;
  (head || feedback ? progress.regression : progress.reconstruction) = 0;
  if (!head) progress.reconstruction = progress.kl = progress.sigma = progress.kl_weight = 0;
  const auto count = static_cast<int64_t>(parts.size());
  for (int64_t b = 0; b < count; ++b) {
    const Rows& rows = parts[static_cast<size_t>(b)];
    const double weight = kl_weight(config_.kl_schedule, state_.epoch * count + b + 1, epochs_of(stage()) * count,
                                    config_.kl_cycles, config_.kl_ramp);
    auto status = head ? train_head(rows, random, progress) : train_vae(rows, feedback, weight, random, progress);
    if (!status) return status;
  }
  for (double* mean :
       {&progress.reconstruction, &progress.kl, &progress.sigma, &progress.kl_weight, &progress.regression}) {
    *mean /= static_cast<double>(count);
  }
  const double loss = head ? progress.regression : progress.reconstruction + progress.kl;
  if (!std::isfinite(loss) || (feedback && !std::isfinite(progress.regression))) {
    return Error{"training-diverged", "the loss is no longer finite",
                 to_text(stage()) + " epoch " + std::to_string(state_.epoch + 1),
                 "a lower learning rate, or standardised columns"};
  }
  ++state_.epoch;
  if (auto status = validate(progress); !status) return status;
  if (hooks_.progress) hooks_.progress(progress);
  return save(finished());
}

void VaeTrainer::gather(const Rows& rows) { pass_.encoder.inputs() = inputs_(rows, Eigen::all); }

Result<double> VaeTrainer::head_loss(const Rows& rows) {
  const RowMatrixF& inputs = pass_.encoder.inputs();
  RowMatrixF& head_inputs = head_trace_.inputs();
  if (!config_.use_vae) {
    head_inputs = inputs;
  } else if (!config_.head_reads_inputs) {
    head_inputs = pass_.latent();
  } else {
    head_inputs.resize(inputs.rows(), pass_.latent().cols() + inputs.cols());
    head_inputs << pass_.latent(), inputs;
  }
  if (auto status = state_.head.forward(head_trace_); !status) return status.error();
  return weighted_squared_error(head_trace_.output(), targets_(rows, Eigen::all), weights_(rows, Eigen::all),
                                row_weight_ * static_cast<double>(rows.size()), head_trace_.output_gradient);
}

Status VaeTrainer::train_vae(const Rows& rows, bool feedback, double kl_weight, Random& random, VaeProgress& progress) {
  gather(rows);
  pass_.draw_noise(static_cast<Eigen::Index>(rows.size()), config_.latent, random);
  const auto loss = vae_.forward(pass_);
  if (!loss) return loss.error();
  progress.reconstruction += loss->reconstruction;
  progress.kl += loss->kl;
  progress.sigma += loss->sigma;
  progress.kl_weight += kl_weight;
  pass_.latent_gradient.resize(0, 0);
  if (feedback) {
    const auto regression = head_loss(rows);
    if (!regression) return regression.error();
    progress.regression += *regression;
    head_trace_.output_gradient *= static_cast<float>(config_.feedback_weight);
    if (auto status = state_.head.backward(head_trace_, head_gradients_, true); !status) return status;
    pass_.latent_gradient = head_trace_.input_gradient.leftCols(config_.latent);
    head_adam_.step(state_.head, head_gradients_);
  }
  if (auto status = vae_.backward(pass_, kl_weight, vae_gradients_); !status) return status;
  encoder_adam_.step(vae_.encoder(), vae_gradients_.encoder);
  decoder_adam_.step(vae_.decoder(), vae_gradients_.decoder);
  return {};
}

Status VaeTrainer::train_head(const Rows& rows, Random& random, VaeProgress& progress) {
  gather(rows);
  if (config_.use_vae) {
    const auto count = static_cast<Eigen::Index>(rows.size());
    if (config_.sample_latent) {
      pass_.draw_noise(count, config_.latent, random);
    } else {
      pass_.noise.setZero(count, config_.latent);
    }
    if (auto status = vae_.encode(pass_); !status) return status;
  }
  const auto regression = head_loss(rows);
  if (!regression) return regression.error();
  progress.regression += *regression;
  const bool fine_tune = config_.use_vae && config_.fine_tune_encoder;
  if (auto status = state_.head.backward(head_trace_, head_gradients_, fine_tune); !status) return status;
  head_adam_.step(state_.head, head_gradients_);
  if (!fine_tune) return {};
  pass_.latent_gradient = head_trace_.input_gradient.leftCols(config_.latent);
  if (auto status = vae_.backward_encoder(pass_, vae_gradients_.encoder); !status) return status;
  encoder_adam_.step(vae_.encoder(), vae_gradients_.encoder);
  return {};
}

Status VaeTrainer::validate(VaeProgress& progress) {
  if (validation_rows_.empty()) return {};
  gather(validation_rows_);
  pass_.noise.setZero(static_cast<Eigen::Index>(validation_rows_.size()), config_.latent);
  if (stage() != VaeStage::kHead) {
    const auto loss = vae_.forward(pass_);
    if (!loss) return loss.error();
    progress.validation = loss->reconstruction + loss->kl;
    return {};
  }
  if (config_.use_vae) {
    if (auto status = vae_.encode(pass_); !status) return status;
  }
  const auto loss = head_loss(validation_rows_);
  if (!loss) return loss.error();
  progress.validation = *loss;
  if (!std::isfinite(*loss)) return {};
  if (state_.best_epoch >= 0 && *loss >= state_.best_validation) return {};
  state_.best_epoch = state_.epoch;
  state_.best_validation = *loss;
  state_.best_head = state_.head;
  state_.best_encoder = vae_.encoder();
  return {};
}

Status VaeTrainer::save(bool stage_over) {
  if (!hooks_.save || (!stage_over && state_.epoch % std::max<int64_t>(hooks_.save_every, 1) != 0)) return {};
  state_.encoder = vae_.encoder();
  state_.decoder = vae_.decoder();
  state_.encoder_adam = encoder_adam_.state();
  state_.decoder_adam = decoder_adam_.state();
  state_.head_adam = head_adam_.state();
  return hooks_.save(to_bytes(state_));
}

// Nothing but what result() needs: a third of a state between epochs.
Status VaeTrainer::save_result() {
  if (!hooks_.save) return {};
  VaeTrainingState done;
  done.run = state_.run;
  done.stage = state_.stage;
  done.encoder = vae_.encoder();
  done.decoder = vae_.decoder();
  done.head = state_.head;
  done.best_epoch = state_.best_epoch;
  done.best_validation = state_.best_validation;
  return hooks_.save(to_bytes(done));
}

VaeRegressor VaeTrainer::result() const {
  VaeRegressor result;
  result.columns_ = columns_;
  result.config_ = config_;
  result.vae_ = vae_;
  result.head_ = state_.head;
  result.mean_ = mean_;
  result.scale_ = scale_;
  result.head_epochs_ = state_.best_epoch >= 0 ? state_.best_epoch : config_.head_epochs;
  return result;
}

}  // namespace perfcast
