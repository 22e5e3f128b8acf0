#pragma once
// Kernel ridge regression (a Gaussian process' mean): programs whose standardised features are near run alike.

#include "program/model/attribution/feature_attribution.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/predictor.h"

namespace perfcast::program {

struct KernelOptions {
  double decay = 0.5;  // kernel = exp(-decay x mean squared distance per feature)
  double noise = 0.2;  // of a program of family weight 1
};

class KernelPredictor : public Predictor, public FeatureAttributor {
 public:
  KernelPredictor() = default;
  explicit KernelPredictor(const KernelOptions& options) : options_(options) {}

  std::string family() const override { return "kernel"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return mean_.size(); }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  KernelOptions options_;
  StandardisedInputs inputs_;
  Eigen::MatrixXd rows_;  // P x F, standardised
  Eigen::MatrixXd dual_;  // P x J: regularised kernel's inverse x centred targets
  Eigen::VectorXd mean_;  // J
};

}  // namespace perfcast::program
