#include "program/model/adapt/adapted_predictor.h"

#include <utility>

#include "base/json.h"
#include "learn/tensors/tensor_map.h"

namespace perfcast::program {

AdaptedPredictor::AdaptedPredictor(std::shared_ptr<Predictor> known) : known_(std::move(known)) {}

AdaptedPredictor::AdaptedPredictor(std::shared_ptr<Predictor> known, const Eigen::VectorXd& weights, double offset)
    : known_(std::move(known)), weights_(weights), offset_(offset) {}

std::string AdaptedPredictor::family() const { return std::string(kAdaptedFamily) + known_->family(); }

Json AdaptedPredictor::settings() const { return known_->settings(); }

Status AdaptedPredictor::configure(const Json& settings, const std::string& source) {
  return known_->configure(settings, source);
}

Status AdaptedPredictor::fit(const TrainingTable&, const FitOptions&) {
  return usage_error("not-trainable", "'" + family() + "' is no model to train: a platform was added to a bundle",
                     family(), "the model '" + known_->family() + "', then perfcast adapt");
}

Eigen::MatrixXd AdaptedPredictor::with_new(const Eigen::MatrixXd& log_rpv, double offset) const {
  Eigen::MatrixXd all(log_rpv.rows(), log_rpv.cols() + 1);
  all.leftCols(log_rpv.cols()) = log_rpv;
  all.rightCols(1) = (log_rpv * weights_).array() + offset;
  const Eigen::VectorXd means = all.rowwise().mean();
  all.colwise() -= means;
  return all;
}

Eigen::MatrixXd AdaptedPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return with_new(known_->predict(profiles), offset_);
}

Prediction AdaptedPredictor::predict_with_disagreement(const std::vector<const Profile*>& profiles) const {
  Prediction prediction = known_->predict_with_disagreement(profiles);
  const Eigen::VectorXd added_log = (prediction.log_rpv * weights_).array() + offset_;
  prediction.log_rpv = with_new(prediction.log_rpv, offset_);
  // The mean is over one platform more.
  if (prediction.log_seconds.size() > 0) prediction.log_seconds += added_log / static_cast<double>(outputs());
  // What the model says is the fastest is of the platforms that it knows.
  const Eigen::Index added = prediction.log_rpv.cols() - 1;
  for (size_t i = 0; i < prediction.best.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    int64_t& best = prediction.best[i];
    if (best >= 0 && prediction.log_rpv(row, added) < prediction.log_rpv(row, best)) best = added;
  }
  return prediction;
}

Eigen::MatrixXd AdaptedPredictor::prior_on(const std::vector<Platform>& platforms,
                                           const std::vector<const Profile*>& profiles) const {
  return known_->prior_on(platforms, profiles);
}

Eigen::MatrixXd AdaptedPredictor::prior_of_training(const std::vector<Platform>& platforms) const {
  return known_->prior_of_training(platforms);
}

int64_t AdaptedPredictor::outputs() const { return known_->outputs() == 0 ? 0 : known_->outputs() + 1; }

// Of a weighted sum, the same weighted sum of what each input adds.
Result<FeatureAttribution> AdaptedPredictor::attribute_features(const AttributionRequest& request) const {
  auto known = perfcast::program::attribute_features(*known_, request);
  if (!known) return known;
  FeatureAttribution all = std::move(*known);
  all.log = with_new(all.log, 0);
  all.baseline_log = with_new(all.baseline_log.transpose(), offset_).transpose();
  all.forecast_log = with_new(all.forecast_log.transpose(), offset_).transpose();
  return all;
}

void AdaptedPredictor::save(TensorMap& tensors) const {
  TensorMap known;
  known_->save(known);
  tensors.put_within("known", known);
  tensors.put("weights", weights_);
  tensors.put("offset", Eigen::MatrixXd::Constant(1, 1, offset_));
}

Status AdaptedPredictor::load(const TensorMap& tensors) {
  if (Status status = known_->load(tensors.within("known")); !status) return status;
  auto weights = tensors.get("weights", known_->outputs(), 1);
  if (!weights) return weights.error();
  const auto offset = tensors.get("offset", 1, 1);
  if (!offset) return offset.error();
  weights_ = weights->col(0);
  offset_ = (*offset)(0, 0);
  return {};
}

}  // namespace perfcast::program
