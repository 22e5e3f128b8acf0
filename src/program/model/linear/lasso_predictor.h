#pragma once
// The lasso on standardised features, one linear model per platform with one penalty for all, chosen on families left
// out. `nnlasso` holds the coefficients of LACross (Zheng, John & Gerstlauer, DAC 2016) to its constraint: a count can
// only add time.

#include "learn/linear/lasso.h"
#include "program/model/attribution/feature_attribution.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/fit/targets.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class LassoPredictor : public Predictor, public FeatureAttributor {
 public:
  explicit LassoPredictor(bool nonnegative = false) : nonnegative_(nonnegative) {}

  std::string family() const override { return nonnegative_ ? "nnlasso" : "lasso"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return intercept_.size(); }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

  const Eigen::MatrixXd& coefficients() const { return coefficients_; }  // K x J
  double penalty() const { return penalty_; }

 private:
  struct Data {
    Eigen::MatrixXd rows;     // P x K: standardised (lasso), or at least 0 (nnlasso)
    Eigen::MatrixXd targets;  // P x J: log RPV, or RPV itself, to which counts add (nnlasso)
    Eigen::VectorXd weights;  // P
  };
  struct Model {
    Eigen::MatrixXd coefficients;
    Eigen::VectorXd intercept;
  };
  Eigen::MatrixXd inputs(const std::vector<const Profile*>& profiles) const;
  std::vector<Model> path(const Data& data, const std::vector<Eigen::Index>& members,
                          const std::vector<double>& penalties) const;
  Eigen::MatrixXd log_rpv_of(const Model& model, const Eigen::MatrixXd& rows) const;
  double choose_penalty(const Data& data, const Targets& targets, const std::vector<double>& penalties) const;

  bool nonnegative_ = false;
  StandardisedInputs inputs_;
  Eigen::VectorXd least_;         // K: of the training rows (nnlasso)
  Eigen::MatrixXd coefficients_;  // K x J
  Eigen::VectorXd intercept_;     // J
  double penalty_ = 0;
};

}  // namespace perfcast::program
