#pragma once
// Models of cores by themselves: log RPV = log(modelled cycles on the platform's core design / the platform's clock),
// about the row's mean. Nothing is learned from times of programs: a yardstick for what is. "clock" leaves out the
// cycles: every program takes as long as the clock says.
//
// The clock is max_hz of a platform's facts, else tsc_hz, else the mean of the platforms of its design, else of all.

#include <string>
#include <vector>

#include "program/model/attribution/feature_attribution.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class CoreModelPredictor : public Predictor, public FeatureAttributor {
 public:
  explicit CoreModelPredictor(bool with_cycles) : with_cycles_(with_cycles) {}

  std::string family() const override { return with_cycles_ ? "core-model" : "clock"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;  // looks at the platforms alone
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return log_clock_.size(); }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  bool with_cycles_;
  std::vector<std::string> metrics_;  // of each platform; empty: no model of its core
  Eigen::VectorXd log_clock_;         // [J]
};

}  // namespace perfcast::program
