#pragma once
// time(program, platform) per instruction = sum over work classes (program/model/features) of events x what one event
// costs there: what the families that add costs up forecast with, however they found the costs.

#include <Eigen/Core>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "program/corpus/corpus.h"
#include "program/model/attribution/feature_attribution.h"
#include "program/model/fit/targets.h"

namespace perfcast {
class TensorMap;
}  // namespace perfcast

namespace perfcast::program {

class WorkCosts {
 public:
  // Takes what is typical from the table's profiles; costs are to be set.
  static WorkCosts typical_of(const TrainingTable& table, const Targets& targets);

  // [profiles x K] events per instruction; a count that is absent is the typical program's.
  Eigen::MatrixXd rates(const std::vector<const Profile*>& profiles) const;
  // [profiles x J], each row's mean is 0.
  Eigen::MatrixXd log_rpv(const std::vector<const Profile*>& profiles) const;
  // What each work class adds, as the input "share_<class>".
  FeatureAttribution attribute_features(const Predictor& of, const AttributionRequest& request) const;

  // [K x J] of one event of each work class on each platform, up to one common factor.
  const Eigen::MatrixXd& costs() const { return costs_; }
  void set_costs(Eigen::MatrixXd costs) { costs_ = std::move(costs); }

  void save(TensorMap& tensors) const;
  Status load(const TensorMap& tensors);

 private:
  Eigen::VectorXd typical_rates_;  // K
  Eigen::MatrixXd costs_;
};

}  // namespace perfcast::program
