#pragma once
// time(program, platform) per instruction = sum over causes of count x cost, all costs >= 0.

#include "model/fit/training.h"
#include "model/predictor.h"

namespace perfcast {

class AdditiveCostPredictor : public Predictor {
 public:
  std::string family() const override { return "nncost"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return costs_.cols(); }
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

  // [K x J] cost of one event of each work class on each platform, relative to the average platform's cycle.
  const Eigen::MatrixXd& costs() const { return costs_; }

 private:
  void fit_costs(const Eigen::MatrixXd& shares, const Targets& targets, const std::vector<Platform>& platforms);

  Eigen::VectorXd typical_rates_;  // K: stands in for a count that is absent
  Eigen::MatrixXd costs_;          // K x J
};

}  // namespace perfcast
