#pragma once
// What every family needs from a TrainingTable: complete targets, family weights, standardised features, and
// predictions for each program from a fit that never saw its family.

#include <Eigen/Core>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "corpus/corpus.h"
#include "model/features/feature_space.h"
#include "model/predictor.h"

namespace perfcast {

// Log times of a table split as program + platform + rest, where the rest of an absent entry is taken as 0: for
// families that need every output at once. `present` tells which entries were measured (1) and which were not (0).
struct Targets {
  Eigen::MatrixXd log_rpv;      // P x J, each row's mean is 0
  Eigen::MatrixXd present;      // P x J
  Eigen::VectorXd log_seconds;  // P: the row means taken off: mean log seconds per unit of work
  Eigen::VectorXd weights;      // P: 1/sqrt(number of programs of its family)
  std::vector<int64_t> family;  // P: index of its family, in order of first appearance
  int64_t families = 0;
};

// "empty-table" without programs or platforms; "unmeasured" where a program or a platform has no time at all.
Result<Targets> make_targets(const TrainingTable& table);

// Weighted mean of the rows: J.
Eigen::VectorXd weighted_mean(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights);

// P: mean over platforms of log seconds per instruction; NaN where the profile's units of work are unknown.
Eigen::VectorXd log_seconds_per_instruction(const TrainingTable& table, const Targets& targets);

// Column-wise shift and scale, fitted on rows with weights; NaN entries are left out when fitting and become 0 (the
// mean) when applied. Standardised values are clipped to +-`limit`.
struct Standardiser {
  Eigen::VectorXd centre, scale;
  double limit = 4;
  static Standardiser fit(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights);
  Eigen::MatrixXd apply(const Eigen::MatrixXd& rows) const;
  // As apply(), but absent stays NaN: what distances between programs are made of.
  Eigen::MatrixXd apply_with_gaps(const Eigen::MatrixXd& rows) const;
  void save(TensorMap& tensors) const;
  Status load(const TensorMap& tensors, int64_t columns);
};

std::vector<const Profile*> profiles_of(const TrainingTable& table);

// "bad-inputs" where the table's choice of inputs keeps part of the instruction mix from models: for those that need it
// whole.
Status may_read_work(const TrainingTable& table);

// What a fitted model sees of a program: a feature space, standardised.
class ProgramFeatures {
 public:
  static ProgramFeatures fit(const TrainingTable& table, const Eigen::VectorXd& weights);
  const FeatureSpace& space() const { return space_; }
  int64_t columns() const { return static_cast<int64_t>(space_.names().size()); }
  Eigen::MatrixXd rows(const std::vector<const Profile*>& profiles) const;  // [profiles x columns]; absent is 0
  // 1 where a feature is there, 0 where it is absent: for models that tell the two apart.
  Eigen::MatrixXd present(const std::vector<const Profile*>& profiles) const;
  void save(TensorMap& tensors) const;
  Status load(const TensorMap& tensors);

 private:
  FeatureSpace space_;
  Standardiser standardiser_;
};

// Each program's forecast by a model that `make` gives, fitted without the program's family:
// Predictor::out_of_family().
using MakePredictor = std::function<Result<std::unique_ptr<Predictor>>()>;
Result<Prediction> predict_out_of_family(const MakePredictor& make, const TrainingTable& table,
                                         const FitOptions& options);
// Which of FitOptions::inner_folds groups each program is left out with, 0 to the number of groups - 1.
std::vector<int64_t> left_out_with(const Targets& targets, const FitOptions& options);

// [families] mean absolute error in log RPV over each family's measured entries.
Eigen::VectorXd family_errors(const Eigen::MatrixXd& predicted, const Targets& targets);
// Their mean over the families.
double family_mean_error(const Eigen::MatrixXd& predicted, const Targets& targets);

}  // namespace perfcast
