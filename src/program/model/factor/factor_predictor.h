#pragma once
// A program's log relative times as a few numbers times what they do on each platform: y_pj = a_p + mu_j + v_j z_p + e.
// Platforms' factors v_j are learned from every program that was timed, also from those without a profile and those
// that few platforms measured; nothing is filled in. A program's numbers z_p come from its profile by a Gaussian
// process around the mean of programs of its kind: where the profile says nothing certain, the forecast is that mean.
//
// Factors: probabilistic principal components with absent entries (Tipping & Bishop, J. R. Stat. Soc. B 61, 1999,
// section 3, and Ilin & Raiko, JMLR 11, 2010, section 3), by expectation-maximisation. Platforms of one core design are
// shrunk towards each other, so that one that few programs were timed on takes after its kin.

#include "program/model/attribution/feature_attribution.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/predictor.h"

namespace perfcast::program {

struct FactorOptions {
  int64_t factors = 6;
  int rounds = 40;              // of expectation-maximisation
  double own_deviation = 0.05;  // of a platform's factors about its core design's
};

class FactorPredictor : public Predictor, public FeatureAttributor {
 public:
  FactorPredictor() = default;
  explicit FactorPredictor(const FactorOptions& options) : options_(options) {}

  std::string family() const override { return "factor"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return mean_.size(); }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  // [queries x R]: what the profile's kind does on average.
  Eigen::MatrixXd kind_means(const Eigen::MatrixXd& similarity) const;
  void choose_smoothing(const struct FactorRows& data, const Eigen::MatrixXd& numbers,
                        const Eigen::MatrixXd& variances);

  FactorOptions options_;
  StandardisedInputs inputs_;
  Eigen::MatrixXd rows_;     // P x F: training programs' inputs
  Eigen::MatrixXd group_;    // P x G: 1 where the program is of the group
  Eigen::VectorXd prior_;    // G: programs that a group counts for before any is near
  Eigen::MatrixXd centres_;  // G x R: mean numbers of a group
  Eigen::MatrixXd dual_;     // P x R
  Eigen::VectorXd mean_;     // J
  Eigen::MatrixXd factors_;  // J x R
  double decay_ = 0.5;       // of similarity_of()
};

}  // namespace perfcast::program
