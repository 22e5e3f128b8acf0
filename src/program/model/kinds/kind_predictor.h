#pragma once
// Applications resemble each other more than they resemble stressors and compressors, and what relates counters to
// times among those misleads about them. So a forecast is
//   log RPV = P x (what applications take) + (1 - P) x (what the family learned from programs of all kinds),
// where P is how far the profile counts as that of an application.

#include <memory>
#include <string>
#include <vector>

#include "program/model/attribution/feature_attribution.h"
#include "program/model/kinds/application_levels.h"
#include "program/model/kinds/kind_of_program.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class KindPredictor : public Predictor, public FeatureAttributor {
 public:
  // `family` of what is learned from all kinds: "cores:stack".
  explicit KindPredictor(std::unique_ptr<Predictor> all);

  std::string family() const override;  // "kinds:" and that of the other
  Json settings() const override;
  Status configure(const Json& settings, const std::string& source) override;
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  Prediction predict_with_disagreement(const std::vector<const Profile*>& profiles) const override;
  Eigen::MatrixXd prior_on(const std::vector<Platform>& platforms,
                           const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override;
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  Eigen::MatrixXd application_inputs(const std::vector<const Profile*>& profiles) const;  // [N x K]
  Eigen::MatrixXd as_application(const std::vector<const Profile*>& profiles) const;      // [N x J], rows about 0

  std::unique_ptr<Predictor> all_;
  KindOfProgram kind_;
  Standardiser standardiser_;  // of the applications' inputs
  ApplicationLevels applications_;
};

}  // namespace perfcast::program
