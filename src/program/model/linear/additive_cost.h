#pragma once
// time(program, platform) per instruction = sum over causes of count x cost, all costs >= 0.

#include "program/model/attribution/feature_attribution.h"
#include "program/model/linear/work_costs.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class AdditiveCostPredictor : public Predictor, public FeatureAttributor {
 public:
  std::string family() const override { return "nncost"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return costs_.costs().cols(); }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override { costs_.save(tensors); }
  Status load(const TensorMap& tensors) override { return costs_.load(tensors); }

  // [K x J] cost of one event of each work class on each platform, relative to the average platform's cycle.
  const Eigen::MatrixXd& costs() const { return costs_.costs(); }

 private:
  WorkCosts costs_;
};

}  // namespace perfcast::program
