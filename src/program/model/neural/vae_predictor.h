#pragma once
// The paper's model (Nichols, Yeom & Bhatele): a sigma-VAE over a program's counters, and a dense network of three
// layers of 1024 from its latent to the relative performance vector.

#include "learn/neural/packed_vae_regressor.h"
#include "learn/neural/vae_regressor_config.h"
#include "program/model/attribution/feature_attribution.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class VaePredictor : public Predictor, public FeatureAttributor {
 public:
  // "vae-dnn", the model of Nichols, Yeom and Bhatele, or one with an ingredient left out: "vae-dnn-no-feedback",
  // "vae-dnn-fixed-sigma", "vae-dnn-no-schedule", "vae-dnn-no-pretraining".
  explicit VaePredictor(std::string family = "vae-dnn");
  VaePredictor(std::string family, const VaeRegressorConfig& config);

  std::string family() const override { return family_; }
  // perfcast.vae-config/1: VaeRegressorConfig. "seed" is FitOptions' to decide; "validation_share" is of the families
  // where there are at least 8, else of the rows, and by default 0.15 of the families and no rows. An ablation leaves
  // its ingredient out whatever the settings say.
  Json settings() const override;
  Status configure(const Json& settings, const std::string& source) override;
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return network_.outputs(); }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  std::string family_;
  VaeRegressorConfig config_;
  StandardisedInputs inputs_;
  PackedVaeRegressor network_;
};

inline constexpr const char* kVaeConfigSchema = "perfcast.vae-config/1";

}  // namespace perfcast::program
