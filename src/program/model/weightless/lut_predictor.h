#pragma once
// Weightless networks on the leading principal components of the training programs' relative times; several networks
// of different seeds are averaged. Beside them, where platforms are few, a classifier that says which is the fastest.

#include <optional>

#include "learn/weightless/packed_network.h"
#include "program/model/attribution/feature_attribution.h"
#include "program/model/fit/leading_components.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/predictor.h"
#include "program/model/weightless/lut_predictor_settings.h"

namespace perfcast::program {

class LutPredictor : public Predictor, public FeatureAttributor {
 public:
  explicit LutPredictor(LutPredictorSettings settings = {}) : settings_(std::move(settings)) {}

  std::string family() const override { return "dwn"; }
  Json settings() const override;
  Status configure(const Json& settings, const std::string& source) override {
    return read_settings(settings, source, settings_);
  }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  Prediction predict_with_disagreement(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return components_.mean.size(); }
  Result<IntegerForecast> as_integers(IntegerTask task, const std::vector<int64_t>& platforms) const override;
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  struct Rows;
  Status fit_times(const Rows& rows, const Eigen::MatrixXd& components, const FitOptions& options);
  Status fit_best(const Rows& rows, const Eigen::MatrixXd& log_rpv, const Eigen::MatrixXd& present,
                  const FitOptions& options);
  Eigen::MatrixXd forecasts_of(size_t network, const Eigen::MatrixXd& rows) const;
  Eigen::MatrixXd forecast(const Eigen::MatrixXd& rows) const;  // the networks' mean

  LutPredictorSettings settings_;
  StandardisedInputs inputs_;
  LeadingComponents components_;
  std::vector<LutNetwork> networks_;
  std::vector<PackedLutNetwork> packed_;
  std::optional<LutNetwork> best_;  // classes: the platforms
};

}  // namespace perfcast::program
