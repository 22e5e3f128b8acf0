#pragma once
// Chooses among the families by leaving out one program family after the other on the training table, never by a test
// fold, and fits the winner on all of it.

#include "program/model/attribution/feature_attribution.h"
#include "program/model/fit/targets.h"
#include "program/model/predictor.h"

namespace perfcast::program {

class AutoPredictor : public Predictor, public FeatureAttributor {
 public:
  std::string family() const override { return "auto"; }
  Status fit(const TrainingTable& table, const FitOptions& options) override;
  Eigen::MatrixXd predict(const std::vector<const Profile*>& profiles) const override;
  Prediction predict_with_disagreement(const std::vector<const Profile*>& profiles) const override;
  // What was chosen by the errors of other families alone says about each: what the choice was made by makes the
  // winner look better than it is, and intervals too narrow. Known since fit(), where alone the candidates stood beside
  // each other: made anew per family, it would cost its square.
  Result<Prediction> out_of_family(const TrainingTable& table, const FitOptions& options) const override;
  int64_t outputs() const override { return chosen_ ? chosen_->outputs() : 0; }
  Result<FeatureAttribution> attribute_features(const AttributionRequest& request) const override;
  void save(TensorMap& tensors) const override;
  Status load(const TensorMap& tensors) override;

  std::string chosen_family() const override { return chosen_ ? chosen_->family() : ""; }

 private:
  std::unique_ptr<Predictor> chosen_;
  Prediction out_of_family_;  // of the training programs; empty after load()
};

// What each candidate says about every program without its family, simplest candidate first: a later one must be
// better to be chosen. `group`: programs that are left out together.
struct Candidates {
  std::vector<std::string> names;
  std::vector<Prediction> predictions;
};
// The candidate with the least mean error over the families.
size_t best_candidate(const Candidates& candidates, const Targets& targets);
// Each group's programs as forecast by the candidate that is best on all other groups (cross-validation of the choice
// itself, at no further fit: as Tsamardinos, Greasidou & Borboudakis, Machine Learning 2018, with groups for draws).
Prediction predict_by_choice_of_others(const Candidates& candidates, const Targets& targets,
                                       const std::vector<int64_t>& group);

}  // namespace perfcast::program
