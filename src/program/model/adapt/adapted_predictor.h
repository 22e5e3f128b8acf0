#pragma once
// A fitted model with one more platform, learned from a few runs there: log time on it = offset + weights . log
// relative times on the platforms that the model knows. Forecasts of those are the model's own.

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "program/model/attribution/feature_attribution.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class AdaptedPredictor : public Predictor, public FeatureAttributor {
 public:
  // To be loaded, or with finish().
  explicit AdaptedPredictor(std::shared_ptr<Predictor> known);
  AdaptedPredictor(std::shared_ptr<Predictor> known, const Eigen::VectorXd& weights, double offset);

  std::string family() const override;  // "adapted:" and that of the known
  std::string chosen_family() const override { return known_->chosen_family(); }
  Json settings() const override;
  Status configure(const Json& settings, const std::string& source) override;
  // "not-trainable": it is made by adapting a bundle.
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  Prediction predict_with_disagreement(const std::vector<const Profile*>& profiles) const override;
  Eigen::MatrixXd prior_on(const std::vector<Platform>& platforms,
                           const std::vector<const Profile*>& profiles) const override;
  Eigen::MatrixXd prior_of_training(const std::vector<Platform>& platforms) const override;
  int64_t outputs() const override;
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  // [N x J] about their mean -> [N x J + 1] about theirs.
  Eigen::MatrixXd with_new(const Eigen::MatrixXd& log_rpv, double offset) const;

  std::shared_ptr<Predictor> known_;
  Eigen::VectorXd weights_;  // J
  double offset_ = 0;
};

inline constexpr std::string_view kAdaptedFamily = "adapted:";

}  // namespace perfcast::program
