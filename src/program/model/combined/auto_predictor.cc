#include "program/model/combined/auto_predictor.h"

#include <algorithm>

#include "base/json.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/combined/stack_predictor.h"
#include "program/model/features/model_inputs.h"
#include "program/model/fit/out_of_family.h"

namespace perfcast::program {
namespace {

// Simplest first: a later one must be better to win.
// Networks and boosted trees are left out for their time: a fit per family left out, and again per fold of an
// evaluation.
std::vector<std::string> families_to_choose_from(ModelInputs::Kind kind) {
  if (kind == ModelInputs::Kind::kWork) return {"mean", "knn", "cluster", "nncost", "kernel", "physics", "forest"};
  return {"mean", "knn", "cluster", "lasso", "kernel", "forest"};
}

bool may_choose(const std::string& family) {
  for (const auto kind : {ModelInputs::Kind::kWork, ModelInputs::Kind::kCounters}) {
    for (const std::string& candidate : families_to_choose_from(kind)) {
      if (family == candidate) return true;
    }
  }
  return family == "stack";
}

size_t least_of(const std::vector<double>& errors) {
  size_t best = 0;
  for (size_t c = 1; c < errors.size(); ++c) {
    if (errors[c] < errors[best]) best = c;
  }
  return best;
}

}  // namespace

size_t best_candidate(const Candidates& candidates, const Targets& targets) {
  std::vector<double> errors;
  for (const Prediction& prediction : candidates.predictions) {
    errors.push_back(family_mean_error(prediction.log_rpv, targets));
  }
  return least_of(errors);
}

Prediction predict_by_choice_of_others(const Candidates& candidates, const Targets& targets,
                                       const std::vector<int64_t>& group) {
  std::vector<Eigen::VectorXd> errors;  // candidates: [families]
  for (const Prediction& prediction : candidates.predictions) {
    errors.push_back(family_errors(prediction.log_rpv, targets));
  }
  const int64_t groups = 1 + *std::max_element(group.begin(), group.end());
  Prediction result = candidates.predictions.front();
  for (int64_t left_out = 0; left_out < groups; ++left_out) {
    Eigen::VectorXd counts = Eigen::VectorXd::Ones(targets.families);
    for (size_t p = 0; p < group.size(); ++p) {
      if (group[p] == left_out) counts(targets.family[p]) = 0;
    }
    std::vector<double> of_others;
    of_others.reserve(errors.size());
    for (const Eigen::VectorXd& of_candidate : errors) of_others.push_back(of_candidate.dot(counts));
    const Prediction& chosen = candidates.predictions[least_of(of_others)];
    for (size_t p = 0; p < group.size(); ++p) {
      if (group[p] != left_out) continue;
      const auto row = static_cast<Eigen::Index>(p);
      result.log_rpv.row(row) = chosen.log_rpv.row(row);
      result.disagreement(row) = chosen.disagreement(row);
    }
  }
  return result;
}

Status AutoPredictor::fit(const TrainingTable& table, const FitOptions& options) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  Candidates candidates;
  const ModelInputs::Kind kind = ModelInputs::choose(table).kind();
  for (const std::string& family : families_to_choose_from(kind)) {
    FitOptions own = options;
    own.part += "/" + family;
    auto prediction = predict_out_of_family([&family] { return make_predictor(family); }, table, own);
    if (!prediction) return prediction.error();
    candidates.names.push_back(family);
    candidates.predictions.push_back(std::move(*prediction));
  }
  // The stack's parts were all fitted above.
  std::vector<Eigen::MatrixXd> of_parts;
  for (const std::string& part : stack_parts(kind)) {
    const auto found = std::find(candidates.names.begin(), candidates.names.end(), part);
    of_parts.push_back(candidates.predictions[static_cast<size_t>(found - candidates.names.begin())].log_rpv);
  }
  candidates.names.push_back("stack");
  candidates.predictions.push_back(stack_of(of_parts));

  out_of_family_ = predict_by_choice_of_others(candidates, *targets, left_out_with(*targets, options));
  auto predictor = make_predictor(candidates.names[best_candidate(candidates, *targets)]);
  if (!predictor) return predictor.error();
  chosen_ = std::move(*predictor);
  return chosen_->fit(table, options);
}

Eigen::MatrixXd AutoPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return chosen_->predict(profiles);
}

Prediction AutoPredictor::predict_with_disagreement(const std::vector<const Profile*>& profiles) const {
  return chosen_->predict_with_disagreement(profiles);
}

Result<Prediction> AutoPredictor::out_of_family(const TrainingTable&, const FitOptions&) const {
  return out_of_family_;
}

Result<FeatureAttribution> AutoPredictor::attribute_features(const AttributionRequest& request) const {
  return perfcast::program::attribute_features(*chosen_, request);
}

void AutoPredictor::save(TensorMap& tensors) const {
  tensors.put_json("chosen", chosen_->family());
  TensorMap state;
  chosen_->save(state);
  tensors.put_within("model", state);
}

Status AutoPredictor::load(const TensorMap& tensors) {
  const auto chosen = tensors.get_json("chosen");
  if (!chosen) return chosen.error();
  if (!chosen->is_string() || !may_choose(chosen->get<std::string>())) {
    return Error{"bad-bundle", "the chosen model is unknown", "chosen", "a bundle written by perfcast train"};
  }
  auto predictor = make_predictor(chosen->get<std::string>());
  if (!predictor) return predictor.error();
  chosen_ = std::move(*predictor);
  return chosen_->load(tensors.within("model"));
}

}  // namespace perfcast::program
