#pragma once
// What models of cores say first, and a family learns what they leave: log RPV = slope x (modelled cycles on the
// platform's core design, about their mean) + what the family makes of the rest. The slope, 0 to 1, is the least
// squares one over the training programs, each family of which weighs alike: 0 where core models say nothing true of
// them. Beyond what the training programs had of a design the effect is held there, and counts as disagreement.

#include <memory>
#include <string>
#include <vector>

#include "program/model/attribution/feature_attribution.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class CorePriorPredictor : public Predictor, public FeatureAttributor {
 public:
  // `family` of what is learned: "stack".
  explicit CorePriorPredictor(std::unique_ptr<Predictor> rest);

  std::string family() const override;  // "cores:" and that of the rest
  Json settings() const override;
  Status configure(const Json& settings, const std::string& source) override;
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  Prediction predict_with_disagreement(const std::vector<const Profile*>& profiles) const override;
  Eigen::MatrixXd prior_on(const std::vector<Platform>& platforms,
                           const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override;
  double slope() const { return slope_; }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  struct Prior {
    Eigen::MatrixXd log_rpv;  // [N x J], rows about 0
    Eigen::VectorXd held;     // [N] what holding took from it, root mean square over the platforms
  };
  Prior prior(const std::vector<const Profile*>& profiles) const;
  // slope x relative cycles, held within what training programs had; rows about any mean.
  Eigen::MatrixXd held(const Eigen::MatrixXd& said) const;

  std::unique_ptr<Predictor> rest_;
  std::vector<std::string> metrics_;  // of each platform; empty: no model of its core
  double slope_ = 0, level_slope_ = 0;
  Eigen::MatrixXd seen_;  // [2 x J] least and most relative log cycles of training programs; empty: not told
};

}  // namespace perfcast::program
