#include "model/combined/auto_predictor.h"

#include <limits>

#include "base/json.h"
#include "model/bundle/bundle.h"
#include "model/combined/stack_predictor.h"

namespace perfcast {
namespace {

// Simplest first: a later one must be better to win.
// Networks and boosted trees are left out for their time: a fit per family left out, and again per fold of an
// evaluation.
std::vector<std::string> candidates(FeatureSpace::Kind kind) {
  if (kind == FeatureSpace::Kind::kWork) return {"mean", "knn", "cluster", "nncost", "kernel", "physics", "forest"};
  return {"mean", "knn", "cluster", "lasso", "kernel", "forest"};
}

bool may_choose(const std::string& family) {
  for (const auto kind : {FeatureSpace::Kind::kWork, FeatureSpace::Kind::kCounters}) {
    for (const std::string& candidate : candidates(kind)) {
      if (family == candidate) return true;
    }
  }
  return family == "stack";
}

}  // namespace

Status AutoPredictor::fit(const TrainingTable& table, const FitOptions& options) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  std::string best;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](const std::string& family, const OutOfFamily& predictions) {
    const double error = family_mean_error(predictions.log_rpv, *targets);
    if (!(error < least)) return;
    least = error;
    best = family;
    out_of_family_ = predictions;
  };
  std::map<std::string, OutOfFamily> parts;
  const FeatureSpace::Kind kind = FeatureSpace::choose(table).kind();
  for (const std::string& family : candidates(kind)) {
    FitOptions own = options;
    own.part += "/" + family;
    auto predictions = predict_out_of_family([&family] { return make_predictor(family); }, table, own);
    if (!predictions) return predictions.error();
    consider(family, *predictions);
    parts[family] = std::move(*predictions);
  }
  // The stack's parts were all fitted above.
  std::vector<Eigen::MatrixXd> of_parts;
  for (const std::string& part : stack_parts(kind)) of_parts.push_back(parts.at(part).log_rpv);
  consider("stack", stack_of(of_parts));

  auto predictor = make_predictor(best);
  if (!predictor) return predictor.error();
  chosen_ = std::move(*predictor);
  return chosen_->fit(table, options);
}

Eigen::MatrixXd AutoPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return chosen_->predict(profiles);
}

Eigen::VectorXd AutoPredictor::disagreement(const std::vector<const Profile*>& profiles) const {
  return chosen_->disagreement(profiles);
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

}  // namespace perfcast
