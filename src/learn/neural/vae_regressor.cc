#include "learn/neural/vae_regressor.h"

#include <cmath>
#include <cstdio>

#include "learn/neural/vae_trainer.h"

namespace perfcast {

std::string to_text(VaeStage stage) {
  switch (stage) {
    case VaeStage::kPretrain:
      return "pretrain";
    case VaeStage::kVae:
      return "vae";
    case VaeStage::kHead:
      return "head";
    case VaeStage::kDone:
      return "done";
  }
  return "";
}

std::string to_text(const VaeProgress& progress) {
  std::string text =
      to_text(progress.stage) + " " + std::to_string(progress.epoch) + "/" + std::to_string(progress.epochs) + ":";
  const struct {
    const char* name;
    double value;
  } losses[] = {{"reconstruction", progress.reconstruction},
                {"KL", progress.kl},
                {"regression", progress.regression},
                {"validation", progress.validation}};
  const char* separator = " ";
  for (const auto& loss : losses) {
    if (std::isnan(loss.value)) continue;
    char part[64];
    std::snprintf(part, sizeof part, "%s%s %.4g", separator, loss.name, loss.value);
    text += part;
    separator = ", ";
  }
  return text;
}

Result<VaeRegressor> VaeRegressor::train(const VaeTrainingData& data, const VaeRegressorConfig& config,
                                         const VaeTrainingHooks& hooks) {
  if (auto status = check(config); !status) return status.error();
  use_threads(hooks.threads);
  VaeTrainer trainer(config, hooks);
  if (auto status = trainer.prepare(data); !status) return status.error();
  if (auto status = trainer.run(); !status) return status.error();
  return trainer.result();
}

Result<RowMatrixF> VaeRegressor::latent(const RowMatrixF& x, const RowMatrixF& mask) const {
  auto inputs = masked_inputs(x, mask);
  if (!inputs) return inputs.error();
  if (x.cols() != columns_) {
    return Error{"bad-input", "rows have " + std::to_string(x.cols()) + " columns", "",
                 std::to_string(columns_) + ", as in training"};
  }
  return config_.use_vae ? vae_.means(*inputs) : inputs;
}

Result<RowMatrixF> VaeRegressor::predict(const RowMatrixF& x, const RowMatrixF& mask) const {
  auto means = latent(x, mask);
  if (!means) return means.error();
  RowMatrixF head_inputs = std::move(*means);
  if (config_.use_vae && config_.head_reads_inputs) {
    const auto inputs = masked_inputs(x, mask);
    if (!inputs) return inputs.error();
    RowMatrixF both(inputs->rows(), head_inputs.cols() + inputs->cols());
    both << head_inputs, *inputs;
    head_inputs = std::move(both);
  }
  auto output = head_.forward(head_inputs);
  if (!output) return output.error();
  return RowMatrixF((scale_ * *output).rowwise() + mean_);
}

}  // namespace perfcast
