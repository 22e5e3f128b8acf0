#pragma once
// The mean of several families, each wrong in its own way, and how far they disagree.

#include "model/predictor.h"
#include "model/training.h"

namespace perfcast {

class StackPredictor : public Predictor {
 public:
  // Forest and physics with equal weights.
  StackPredictor();
  explicit StackPredictor(const std::vector<std::string>& families);

  std::string family() const override { return "stack"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  Eigen::VectorXd disagreement(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override;
  std::vector<std::string> parts() const;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  OutOfFamily forecast_parts(const std::vector<const Profile*>& profiles) const;

  std::vector<std::unique_ptr<Predictor>> parts_;
};

// Mean and disagreement of the parts' forecasts, each [N x J]; at least one.
OutOfFamily stack_of(const std::vector<Eigen::MatrixXd>& parts);

}  // namespace perfcast
