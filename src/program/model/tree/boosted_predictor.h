#pragma once
// Boosted trees on the leading principal components of the training programs' relative times: one set of trees per
// component, so that a forecast for a hundred platforms walks a few hundred trees, not ten thousand.

#include "learn/tree/boosted_trees.h"
#include "program/model/attribution/feature_attribution.h"
#include "program/model/fit/leading_components.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class BoostedPredictor : public Predictor, public FeatureAttributor {
 public:
  std::string family() const override { return "gbt"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return components_.mean.size(); }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  StandardisedInputs inputs_;
  LeadingComponents components_;
  std::vector<BoostedTrees> trees_;
};

}  // namespace perfcast::program
