#pragma once
// What families are fitted on: a profile's inputs, shifted and scaled as the training rows have them.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "corpus/corpus.h"
#include "model/features/model_inputs.h"

namespace perfcast {

class TensorMap;

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

// How alike programs are by their standardised inputs: exp(-decay x mean squared distance per input), [a x b].
Eigen::MatrixXd similarity_of(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double decay);
// Its slope by each input of one row, [inputs x b].
Eigen::MatrixXd similarity_slopes(const Eigen::RowVectorXd& row, const Eigen::MatrixXd& b, double decay);

}  // namespace perfcast
