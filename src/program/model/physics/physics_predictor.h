#pragma once
// time(program, platform) = sum over causes of count x cost, where what a cause costs is inherited: log cost =
// textbook + common + line of core designs + core design + platform, each with a Gaussian prior about 0. Platforms of
// one design are alike but for their memory.

#include "program/model/attribution/feature_attribution.h"
#include "program/model/linear/work_costs.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class PhysicsPredictor : public Predictor, public FeatureAttributor {
 public:
  std::string family() const override { return "physics"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return costs_.costs().cols(); }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override { costs_.save(tensors); }
  Status load(const TensorMap& tensors) override { return costs_.load(tensors); }

  // [K x J] cycles of one event of each work class on each platform, up to one common factor.
  const Eigen::MatrixXd& costs() const { return costs_.costs(); }

 private:
  WorkCosts costs_;
};

}  // namespace perfcast::program
