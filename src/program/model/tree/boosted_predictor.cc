#include "program/model/tree/boosted_predictor.h"

#include "learn/tensors/tensor_map.h"
#include "program/model/fit/targets.h"

namespace perfcast::program {
namespace {

constexpr Eigen::Index kComponents = 6;

}  // namespace

Status BoostedPredictor::fit(const TrainingTable& table, const FitOptions& options) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  inputs_ = StandardisedInputs::fit(table, targets->weights);
  const Eigen::MatrixXd rows = inputs_.rows(profiles_of(table));
  components_ = LeadingComponents::fit(*targets, kComponents);
  const Eigen::MatrixXd components = components_.of(targets->log_rpv);
  trees_.clear();
  for (Eigen::Index c = 0; c < components.cols(); ++c) {
    BoostOptions boost;
    boost.seed = options.seed + static_cast<uint64_t>(c);
    boost.threads = options.threads;
    auto trees = BoostedTrees::fit(rows, components.col(c), targets->weights, boost);
    if (!trees) return trees.error();
    trees_.push_back(std::move(*trees));
  }
  return {};
}

Eigen::MatrixXd BoostedPredictor::predict(const std::vector<const Profile*>& profiles) const {
  const Eigen::MatrixXd rows = inputs_.rows(profiles);
  Eigen::MatrixXd components(rows.rows(), static_cast<Eigen::Index>(trees_.size()));
  std::vector<float> row(static_cast<size_t>(rows.cols()));
  for (Eigen::Index r = 0; r < rows.rows(); ++r) {
    for (size_t c = 0; c < row.size(); ++c) row[c] = static_cast<float>(rows(r, static_cast<Eigen::Index>(c)));
    for (size_t t = 0; t < trees_.size(); ++t) components(r, static_cast<Eigen::Index>(t)) = trees_[t].predict(row);
  }
  return components_.log_rpv(components);
}

// XGBoost's own contributions come in float, and a bundle keeps no model of XGBoost's to ask.
Result<FeatureAttribution> BoostedPredictor::attribute_features(const AttributionRequest& request) const {
  const auto [own, reference] = attributed_rows(inputs_, request);
  const Eigen::RowVectorXf own_row = own.cast<float>(), reference_row = reference.cast<float>();
  const auto columns = static_cast<size_t>(own.size());
  Eigen::MatrixXd components(own.size(), static_cast<Eigen::Index>(trees_.size()));
  for (size_t t = 0; t < trees_.size(); ++t) {
    if (!trees_[t].shapley({own_row.data(), columns}, {reference_row.data(), columns},
                           components.col(static_cast<Eigen::Index>(t)))) {
      return Error{"bad-bundle", "the nodes of the boosted trees make no trees", "trees",
                   "a bundle written by perfcast train"};
    }
  }
  return attribution_of(*this, request, AttributionMethod::kTreeShap, inputs_.chosen().names(),
                        centred_over_platforms(components * components_.directions));
}

void BoostedPredictor::save(TensorMap& tensors) const {
  inputs_.save(tensors);
  components_.save(tensors);
  for (size_t t = 0; t < trees_.size(); ++t) tensors.put_float("trees" + std::to_string(t), trees_[t].to_tensor());
}

Status BoostedPredictor::load(const TensorMap& tensors) {
  if (auto status = inputs_.load(tensors); !status) return status;
  const int64_t columns = inputs_.columns();
  if (auto status = components_.load(tensors); !status) return status;
  trees_.clear();
  for (Eigen::Index t = 0; t < components_.directions.rows(); ++t) {
    const auto tensor = tensors.get_float("trees" + std::to_string(t), -1, 5);
    if (!tensor) return tensor.error();
    auto trees = BoostedTrees::from_tensor(*tensor, columns);
    if (!trees) return trees.error();
    trees_.push_back(std::move(*trees));
  }
  return {};
}

}  // namespace perfcast::program
