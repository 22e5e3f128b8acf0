#pragma once
// Chooses among the families by leaving out one program family after the other on the training table, never by a test
// fold, and fits the winner on all of it.

#include "model/fit/training.h"
#include "model/predictor.h"

namespace perfcast {

class AutoPredictor : public Predictor {
 public:
  std::string family() const override { return "auto"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  Eigen::VectorXd disagreement(const std::vector<const Profile*>& profiles) const override;
  int64_t outputs() const override { return chosen_ ? chosen_->outputs() : 0; }
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

  std::string chosen() const { return chosen_ ? chosen_->family() : ""; }
  // What the winner said about each training program without its family; empty after load().
  const OutOfFamily& out_of_family() const { return out_of_family_; }

 private:
  std::unique_ptr<Predictor> chosen_;
  OutOfFamily out_of_family_;
};

}  // namespace perfcast
