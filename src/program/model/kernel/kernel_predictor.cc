#include "program/model/kernel/kernel_predictor.h"

#include <cmath>

#include "learn/algebra/dense.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/attribution/line_attribution.h"
#include "program/model/fit/targets.h"

namespace perfcast::program {

Status KernelPredictor::fit(const TrainingTable& table, const FitOptions&) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  inputs_ = StandardisedInputs::fit(table, targets->weights);
  rows_ = inputs_.rows(profiles_of(table));
  mean_ = weighted_mean(targets->log_rpv, targets->weights);
  Eigen::MatrixXd kernel = similarity_of(rows_, rows_, options_.decay);
  kernel.diagonal() += options_.noise * targets->weights.cwiseInverse();
  const Eigen::MatrixXd centred = targets->log_rpv.rowwise() - mean_.transpose();
  dual_ = solve_positive_definite(kernel, centred);
  return {};
}

Eigen::MatrixXd KernelPredictor::predict(const std::vector<const Profile*>& profiles) const {
  Eigen::MatrixXd result = similarity_of(inputs_.rows(profiles), rows_, options_.decay) * dual_;
  result.rowwise() += mean_.transpose();
  result.colwise() -= result.rowwise().mean().eval();
  return result;
}

Result<FeatureAttribution> KernelPredictor::attribute_features(const AttributionRequest& request) const {
  const auto [own, reference] = attributed_rows(inputs_, request);
  const SmoothModel similarity{
      [&](const Eigen::RowVectorXd& row) -> Eigen::RowVectorXd { return similarity_of(row, rows_, options_.decay); },
      [&](const Eigen::RowVectorXd& row) { return similarity_slopes(row, rows_, options_.decay); }};
  const Eigen::MatrixXd slopes = integrated_gradients(similarity, own, reference, kLineToleranceLog);
  return attribution_of(*this, request, AttributionMethod::kIntegratedGradients, inputs_.chosen().names(),
                        centred_over_platforms(slopes * dual_));
}

void KernelPredictor::save(TensorMap& tensors) const {
  inputs_.save(tensors);
  tensors.put("rows", rows_);
  tensors.put("dual", dual_);
  tensors.put("mean", mean_);
  tensors.put("decay", Eigen::MatrixXd::Constant(1, 1, options_.decay));
}

Status KernelPredictor::load(const TensorMap& tensors) {
  if (auto status = inputs_.load(tensors); !status) return status;
  const int64_t columns = inputs_.columns();
  auto rows = tensors.get("rows", -1, columns);
  if (!rows) return rows.error();
  auto dual = tensors.get("dual", rows->rows());
  if (!dual) return dual.error();
  const auto mean = tensors.get("mean", dual->cols(), 1);
  if (!mean) return mean.error();
  const auto decay = tensors.get("decay", 1, 1);
  if (!decay) return decay.error();
  rows_ = std::move(*rows);
  dual_ = std::move(*dual);
  mean_ = mean->col(0);
  options_.decay = (*decay)(0, 0);
  return {};
}

}  // namespace perfcast::program
