#include "program/model/fit/standardised_inputs.h"

#include <algorithm>
#include <cmath>

#include "learn/tensors/tensor_map.h"

namespace perfcast::program {

std::vector<const Profile*> profiles_of(const TrainingTable& table) {
  std::vector<const Profile*> profiles;
  profiles.reserve(table.profiles.size());
  for (const Profile& profile : table.profiles) profiles.push_back(&profile);
  return profiles;
}

Status may_read_work(const TrainingTable& table) {
  if (table.inputs.counters == InputChoice::Counters::kAll) return {};
  return Error{"bad-inputs", "the model needs the whole instruction mix; the inputs are those of Table I alone", "",
               "all features, or a model of plain counters: knn, forest, kernel, gbt, lasso, cluster, dnn, ..."};
}

StandardisedInputs StandardisedInputs::fit(const TrainingTable& table, const Eigen::VectorXd& weights) {
  StandardisedInputs result;
  const auto profiles = profiles_of(table);
  result.chosen_ = ModelInputs::choose(table);
  result.standardiser_ = Standardiser::fit(result.chosen_.extract(profiles), weights);
  return result;
}

Eigen::MatrixXd StandardisedInputs::rows(const std::vector<const Profile*>& profiles) const {
  return standardiser_.apply(chosen_.extract(profiles));
}

Eigen::MatrixXd StandardisedInputs::present(const std::vector<const Profile*>& profiles) const {
  return chosen_.extract(profiles).unaryExpr([](double value) { return std::isnan(value) ? 0.0 : 1.0; });
}

void StandardisedInputs::save(TensorMap& tensors) const {
  chosen_.save(tensors);
  standardiser_.save(tensors);
}

Status StandardisedInputs::load(const TensorMap& tensors) {
  if (Status status = chosen_.load(tensors); !status) return status;
  return standardiser_.load(tensors, columns());
}

}  // namespace perfcast::program
