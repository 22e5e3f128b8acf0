#pragma once
// What families are fitted on: a profile's inputs, shifted and scaled as the training rows have them.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "learn/fit/standardiser.h"
#include "program/corpus/corpus.h"
#include "program/model/features/model_inputs.h"

namespace perfcast {
class TensorMap;
}  // namespace perfcast

namespace perfcast::program {

std::vector<const Profile*> profiles_of(const TrainingTable& table);

// "bad-inputs" where the table's choice of inputs keeps part of the instruction mix from models: for those that need it
// whole.
Status may_read_work(const TrainingTable& table);

// What a fitted model sees of a program: the inputs chosen from its training profiles, standardised.
class StandardisedInputs {
 public:
  static StandardisedInputs fit(const TrainingTable& table, const Eigen::VectorXd& weights);
  const ModelInputs& chosen() const { return chosen_; }
  int64_t columns() const { return static_cast<int64_t>(chosen_.names().size()); }
  Eigen::MatrixXd rows(const std::vector<const Profile*>& profiles) const;  // [profiles x columns]; absent is 0
  // The input that is standardised to `value`.
  double as_it_was(Eigen::Index column, double value) const {
    return standardiser_.centre(column) + standardiser_.scale(column) * value;
  }
  // 1 where an input is there, 0 where it is absent: for models that tell the two apart.
  Eigen::MatrixXd present(const std::vector<const Profile*>& profiles) const;
  void save(TensorMap& tensors) const;
  Status load(const TensorMap& tensors);

 private:
  ModelInputs chosen_;
  Standardiser standardiser_;
};

}  // namespace perfcast::program
