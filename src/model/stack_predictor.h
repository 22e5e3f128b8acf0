#pragma once
// The mean of several families, each wrong in its own way, and how far they disagree.

#include "model/predictor.h"

namespace perfcast {

class StackPredictor : public Predictor {
 public:
  // Forest, kernel and physics with equal weights.
  StackPredictor();
  explicit StackPredictor(const std::vector<std::string>& families);

  std::string family() const override { return "stack"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  Eigen::VectorXd disagreement(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

 private:
  std::vector<std::unique_ptr<Predictor>> parts_;
};

}  // namespace perfcast
