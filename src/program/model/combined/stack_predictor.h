#pragma once
// The mean of several families, each wrong in its own way, and how far they disagree.

#include "program/model/attribution/feature_attribution.h"
#include "program/model/features/model_inputs.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class StackPredictor : public Predictor, public FeatureAttributor {
 public:
  // Parts with equal weights; which, fit() decides by what the profiles tell: see stack_parts().
  StackPredictor();
  // Parts as given: is_stack_of_parts().
  explicit StackPredictor(const std::vector<std::string>& families);

  std::string family() const override;  // "stack", or the given parts joined by '+'
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  Prediction predict_with_disagreement(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override;
  std::vector<std::string> parts() const;
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  void set_parts(const std::vector<std::string>& families);

  std::vector<std::unique_ptr<Predictor>> parts_;
  bool by_profiles_ = false;
};

// One of each kind, since what unlike models get wrong cancels out. Where profiles have an instruction mix: trees,
// additive costs, neighbours, a linear model per cluster. Where they are plain counters, of which physics can make
// nothing: forest, lasso, clusters.
std::vector<std::string> stack_parts(ModelInputs::Kind kind);

// What a stack may be made of: no stack of stacks, and nothing whose fit takes minutes where it is repeated per family.
const std::vector<std::string>& stackable_families();
bool is_stack_of_parts(const std::vector<std::string>& families);  // at least two, each stackable, each once

// Mean and disagreement of the parts' forecasts, each [N x J]; at least one.
Prediction stack_of(const std::vector<Eigen::MatrixXd>& parts);

}  // namespace perfcast::program
