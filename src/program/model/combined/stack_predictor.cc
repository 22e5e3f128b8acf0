#include "program/model/combined/stack_predictor.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "learn/tensors/tensor_map.h"

namespace perfcast::program {

std::vector<std::string> stack_parts(ModelInputs::Kind kind) {
  if (kind == ModelInputs::Kind::kWork) return {"forest", "physics", "knn", "cluster"};
  return {"forest", "lasso", "cluster"};
}

const std::vector<std::string>& stackable_families() {
  static const std::vector<std::string> families = {"knn",    "cluster", "lasso",   "nnlasso", "nncost",
                                                    "kernel", "forest",  "physics", "gbt",     "dnn"};
  return families;
}

bool is_stack_of_parts(const std::vector<std::string>& families) {
  const std::set<std::string> distinct(families.begin(), families.end());
  const std::vector<std::string>& known = stackable_families();
  return families.size() >= 2 && distinct.size() == families.size() &&
         std::all_of(families.begin(), families.end(), [&known](const std::string& family) {
           return std::find(known.begin(), known.end(), family) != known.end();
         });
}

StackPredictor::StackPredictor() : StackPredictor(stack_parts(ModelInputs::Kind::kWork)) { by_profiles_ = true; }

StackPredictor::StackPredictor(const std::vector<std::string>& families) { set_parts(families); }

void StackPredictor::set_parts(const std::vector<std::string>& families) {
  parts_.clear();
  for (const std::string& name : families) {
    auto part = make_predictor(name);
    if (part) parts_.push_back(std::move(*part));
  }
}

Status StackPredictor::fit(const TrainingTable& table, const FitOptions& options) {
  if (by_profiles_) set_parts(stack_parts(ModelInputs::choose(table).kind()));
  for (const auto& part : parts_) {
    if (auto status = part->fit(table, options); !status) return status;
  }
  return {};
}

Prediction stack_of(const std::vector<Eigen::MatrixXd>& parts) {
  Prediction result;
  const auto count = static_cast<double>(parts.size());
  result.log_rpv = Eigen::MatrixXd::Zero(parts.front().rows(), parts.front().cols());
  for (const Eigen::MatrixXd& part : parts) result.log_rpv += part / count;
  Eigen::VectorXd variance = Eigen::VectorXd::Zero(result.log_rpv.rows());
  for (const Eigen::MatrixXd& part : parts) variance += (part - result.log_rpv).cwiseAbs2().rowwise().mean() / count;
  result.disagreement = variance.cwiseSqrt();
  return result;
}

Prediction StackPredictor::predict_with_disagreement(const std::vector<const Profile*>& profiles) const {
  std::vector<Eigen::MatrixXd> predictions;
  for (const auto& part : parts_) predictions.push_back(part->predict(profiles));
  return stack_of(predictions);
}

Eigen::MatrixXd StackPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return predict_with_disagreement(profiles).log_rpv;
}

// A mean in log relative time: of its parts' attributions, too.
Result<FeatureAttribution> StackPredictor::attribute_features(const AttributionRequest& request) const {
  std::vector<FeatureAttribution> attributions;
  attributions.reserve(parts_.size());
  for (const auto& part : parts_) {
    auto attribution = perfcast::program::attribute_features(*part, request);
    if (!attribution) return attribution;
    attributions.push_back(std::move(*attribution));
  }
  return sum_of(attributions, 1 / static_cast<double>(parts_.size()));
}

std::vector<std::string> StackPredictor::parts() const {
  std::vector<std::string> names;
  for (const auto& part : parts_) names.push_back(part->family());
  return names;
}

std::string StackPredictor::family() const { return by_profiles_ ? "stack" : join(parts(), "+"); }

int64_t StackPredictor::outputs() const { return parts_.empty() ? 0 : parts_.front()->outputs(); }

void StackPredictor::save(TensorMap& tensors) const {
  tensors.put_json("parts", parts());
  for (const auto& part : parts_) {
    TensorMap state;
    part->save(state);
    tensors.put_within(part->family(), state);
  }
}

Status StackPredictor::load(const TensorMap& tensors) {
  const auto named = tensors.get_json("parts");
  if (!named) return named.error();
  std::vector<std::string> families;
  for (const Json& name : named->is_array() ? *named : Json::array()) {
    if (name.is_string()) families.push_back(name.get<std::string>());
  }
  if (families.size() != named->size() || !is_stack_of_parts(families)) {
    return Error{"bad-bundle", "the parts of the stack are unknown", "parts",
                 "two or more of " + join(stackable_families(), ", ") + ", each once"};
  }
  set_parts(families);
  for (const auto& part : parts_) {
    if (auto status = part->load(tensors.within(part->family())); !status) return status;
    if (part->outputs() != outputs()) {
      return Error{"bad-bundle", "the parts of the model forecast different numbers of platforms", part->family(),
                   "a bundle written by perfcast train"};
    }
  }
  return {};
}

}  // namespace perfcast::program
