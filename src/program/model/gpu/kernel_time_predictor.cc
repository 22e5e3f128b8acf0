#include "program/model/gpu/kernel_time_predictor.h"

#include <cmath>
#include <utility>

#include "base/json.h"
#include "base/unknown.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/fit/standardised_inputs.h"

namespace perfcast::program {
namespace {

// Of the costs in the mean of log relative times; the other family has the rest.
constexpr double kCostsWeight = 2.0 / 3;

struct Known {
  std::vector<KernelWork> works;
  std::vector<Eigen::Index> rows;  // of the profiles that they are of
};

Known works_in(const std::vector<const Profile*>& profiles) {
  Known known;
  for (size_t i = 0; i < profiles.size(); ++i) {
    if (const auto work = kernel_work(*profiles[i])) {
      known.works.push_back(*work);
      known.rows.push_back(static_cast<Eigen::Index>(i));
    }
  }
  return known;
}

// [profiles x platforms] without each row's mean; 0 where nothing is said.
Eigen::MatrixXd relative_costs(const DeviceCosts& costs, const std::vector<Platform>& platforms, const Known& known,
                               Eigen::Index profiles) {
  Eigen::MatrixXd said = Eigen::MatrixXd::Zero(profiles, static_cast<Eigen::Index>(platforms.size()));
  const Eigen::MatrixXd times = costs.log_seconds_on(platforms, known.works);
  for (size_t i = 0; i < known.rows.size(); ++i) {
    const auto row = times.row(static_cast<Eigen::Index>(i));
    said.row(known.rows[i]) = row.array() - row.mean();
  }
  return said;
}

}  // namespace

KernelTimePredictor::KernelTimePredictor(std::unique_ptr<Predictor> rest) : rest_(std::move(rest)) {}

std::string KernelTimePredictor::family() const { return std::string(kOfKernels) + rest_->family(); }

Json KernelTimePredictor::settings() const { return rest_->settings(); }

Status KernelTimePredictor::configure(const Json& settings, const std::string& source) {
  return rest_->configure(settings, source);
}

Status KernelTimePredictor::fit(const TrainingTable& table, const FitOptions& options) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  const std::vector<const Profile*> profiles = profiles_of(table);
  const Known known = works_in(profiles);
  if (known.works.empty()) {
    return Error{"no-kernels", "no training profile says what a kernel does", "",
                 "features of AIWC (perfcast import aiwc), or counts of instructions by kind, threads and transactions "
                 "at the second-level cache by NVIDIA's profilers"};
  }
  costs_.fit(known.works, known.rows, *targets, table.platforms);
  training_works_ = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(profiles.size()), kWorkColumns);
  const Eigen::MatrixXd works = as_matrix(known.works);
  for (size_t i = 0; i < known.rows.size(); ++i) {
    training_works_.row(known.rows[i]) = works.row(static_cast<Eigen::Index>(i));
  }
  return rest_->fit(table, options);
}

Eigen::MatrixXd KernelTimePredictor::predict(const std::vector<const Profile*>& profiles) const {
  return predict_with_disagreement(profiles).log_rpv;
}

Prediction KernelTimePredictor::predict_with_disagreement(const std::vector<const Profile*>& profiles) const {
  Prediction said = rest_->predict_with_disagreement(profiles);
  said.best.clear();
  said.log_seconds = Eigen::VectorXd::Constant(said.log_rpv.rows(), kUnknown);
  const Known known = works_in(profiles);
  const Eigen::MatrixXd times = costs_.log_seconds(known.works);
  for (size_t i = 0; i < known.rows.size(); ++i) {
    const Eigen::Index row = known.rows[i];
    const Eigen::RowVectorXd own = times.row(static_cast<Eigen::Index>(i));
    said.log_seconds(row) = own.mean();
    const Eigen::RowVectorXd apart = own.array() - own.mean() - said.log_rpv.row(row).array();
    said.log_rpv.row(row) += kCostsWeight * apart;
    const double variance = kCostsWeight * (1 - kCostsWeight) * apart.squaredNorm() / static_cast<double>(apart.size());
    said.disagreement(row) = std::sqrt(said.disagreement(row) * said.disagreement(row) + variance);
  }
  return said;
}

Eigen::MatrixXd KernelTimePredictor::prior_on(const std::vector<Platform>& platforms,
                                              const std::vector<const Profile*>& profiles) const {
  return relative_costs(costs_, platforms, works_in(profiles), static_cast<Eigen::Index>(profiles.size()));
}

Eigen::MatrixXd KernelTimePredictor::prior_of_training(const std::vector<Platform>& platforms) const {
  Known known;
  const std::vector<KernelWork> works = works_of(training_works_);
  for (size_t i = 0; i < works.size(); ++i) {
    if (!(works[i].items > 0)) continue;
    known.works.push_back(works[i]);
    known.rows.push_back(static_cast<Eigen::Index>(i));
  }
  return relative_costs(costs_, platforms, known, training_works_.rows());
}

void KernelTimePredictor::save(TensorMap& tensors) const {
  tensors.put_json("costs", costs_.to_json());
  tensors.put("training_works", training_works_);
  TensorMap rest;
  rest_->save(rest);
  tensors.put_within("rest", rest);
}

Status KernelTimePredictor::load(const TensorMap& tensors) {
  const auto json = tensors.get_json("costs");
  if (!json) return json.error();
  if (auto status = costs_.read_json(*json); !status) return status;
  auto works = tensors.get("training_works", -1, kWorkColumns);
  if (!works) return works.error();
  training_works_ = std::move(*works);
  if (auto status = rest_->load(tensors.within("rest")); !status) return status;
  if (rest_->outputs() != costs_.devices()) {
    return Error{"bad-bundle", "the parts of the model forecast different numbers of platforms", family(),
                 "a bundle written by perfcast train"};
  }
  return {};
}

}  // namespace perfcast::program
