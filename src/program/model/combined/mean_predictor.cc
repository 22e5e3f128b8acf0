#include "program/model/combined/mean_predictor.h"

#include "learn/tensors/tensor_map.h"
#include "program/model/fit/targets.h"

namespace perfcast::program {

Status MeanPredictor::fit(const TrainingTable& table, const FitOptions&) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  mean_ = weighted_mean(targets->log_rpv, targets->weights);
  return {};
}

Eigen::MatrixXd MeanPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return mean_.transpose().replicate(static_cast<Eigen::Index>(profiles.size()), 1);
}

Result<FeatureAttribution> MeanPredictor::attribute_features(const AttributionRequest& request) const {
  return attribution_of(*this, request, AttributionMethod::kAdditive, {}, Eigen::MatrixXd::Zero(0, mean_.size()));
}

void MeanPredictor::save(TensorMap& tensors) const { tensors.put("mean", mean_); }

Status MeanPredictor::load(const TensorMap& tensors) {
  const auto values = tensors.get("mean", -1, 1);
  if (!values) return values.error();
  mean_ = values->col(0);
  return {};
}

}  // namespace perfcast::program
