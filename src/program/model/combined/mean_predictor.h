#pragma once
// The baseline: every program runs as the average training program does.

#include "program/model/attribution/feature_attribution.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class MeanPredictor : public Predictor, public FeatureAttributor {
 public:
  std::string family() const override { return "mean"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return mean_.size(); }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  Eigen::VectorXd mean_;  // J, family-weighted mean log RPV
};

}  // namespace perfcast::program
