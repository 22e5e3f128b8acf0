#include "model/stack_predictor.h"

#include "model/bundle.h"

namespace perfcast {

StackPredictor::StackPredictor() : StackPredictor({"forest", "kernel", "physics"}) {}

StackPredictor::StackPredictor(const std::vector<std::string>& families) {
  for (const std::string& name : families) {
    auto part = make_predictor(name);
    if (part) parts_.push_back(std::move(*part));
  }
}

Status StackPredictor::fit(const TrainingTable& table, const FitOptions& options) {
  for (const auto& part : parts_) {
    if (auto status = part->fit(table, options); !status) return status;
  }
  return {};
}

Eigen::MatrixXd StackPredictor::predict(const std::vector<const Profile*>& profiles) const {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(profiles.size()), outputs());
  for (const auto& part : parts_) sum += part->predict(profiles);
  return sum / static_cast<double>(parts_.size());
}

Eigen::VectorXd StackPredictor::disagreement(const std::vector<const Profile*>& profiles) const {
  const auto rows = static_cast<Eigen::Index>(profiles.size());
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(rows, outputs());
  Eigen::MatrixXd squares = sum;
  for (const auto& part : parts_) {
    const Eigen::MatrixXd predicted = part->predict(profiles);
    sum += predicted;
    squares += predicted.cwiseAbs2();
  }
  const auto count = static_cast<double>(parts_.size());
  const Eigen::MatrixXd variance = squares / count - (sum / count).cwiseAbs2();
  return variance.cwiseMax(0).rowwise().mean().cwiseSqrt();
}

int64_t StackPredictor::outputs() const { return parts_.empty() ? 0 : parts_.front()->outputs(); }

void StackPredictor::save(TensorMap& tensors) const {
  for (const auto& part : parts_) {
    TensorMap state;
    part->save(state);
    tensors.put_within(part->family(), state);
  }
}

Status StackPredictor::load(const TensorMap& tensors) {
  for (const auto& part : parts_) {
    if (auto status = part->load(tensors.within(part->family())); !status) return status;
    if (part->outputs() != outputs()) {
      return Error{"bad-bundle", "the parts of the model forecast different numbers of platforms", part->family(),
                   "a bundle written by perfcast train"};
    }
  }
  return {};
}

}  // namespace perfcast
