#pragma once
// Nearest training programs in standardised feature space, weighted by distance.

#include "program/model/attribution/feature_attribution.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/fit/targets.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class KnnPredictor : public Predictor, public FeatureAttributor {
 public:
  std::string family() const override { return "knn"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return log_rpv_.cols(); }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

  int64_t neighbours() const { return neighbours_; }

 private:
  Eigen::MatrixXd forecast(const Eigen::MatrixXd& queries) const;  // [N x F] -> [N x J]
  Eigen::RowVectorXd blend(const Eigen::VectorXd& squared_distances, int64_t neighbours) const;
  int64_t choose_neighbours(const Targets& targets) const;

  StandardisedInputs inputs_;
  Eigen::MatrixXd rows_;     // P x F, standardised
  Eigen::MatrixXd log_rpv_;  // P x J
  Eigen::VectorXd weights_;  // P
  int64_t neighbours_ = 0;
};

}  // namespace perfcast::program
