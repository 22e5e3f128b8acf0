#include "program/model/linear/work_costs.h"

#include <cmath>
#include <utility>

#include "learn/tensors/tensor_map.h"
#include "program/model/attribution/sum_attribution.h"
#include "program/model/features/work_features.h"
#include "program/model/fit/standardised_inputs.h"

namespace perfcast::program {
namespace {

// All costs could be 0 for what a program does: a floor keeps the logarithm finite.
constexpr double kLeastTime = 1e-9;

}  // namespace

WorkCosts WorkCosts::typical_of(const TrainingTable& table, const Targets& targets) {
  WorkCosts result;
  result.typical_rates_ = Standardiser::fit(work_rates(profiles_of(table)), targets.weights).centre;
  return result;
}

Eigen::MatrixXd WorkCosts::rates(const std::vector<const Profile*>& profiles) const {
  Eigen::MatrixXd rates = work_rates(profiles);
  for (Eigen::Index k = 0; k < rates.cols(); ++k) {
    for (Eigen::Index p = 0; p < rates.rows(); ++p) {
      if (std::isnan(rates(p, k))) rates(p, k) = typical_rates_(k);
    }
  }
  return rates;
}

Eigen::MatrixXd WorkCosts::log_rpv(const std::vector<const Profile*>& profiles) const {
  Eigen::MatrixXd result = (rates(profiles) * costs_).array().max(kLeastTime).log();
  result.colwise() -= result.rowwise().mean().eval();
  return result;
}

FeatureAttribution WorkCosts::attribute_features(const Predictor& of, const AttributionRequest& request) const {
  const Eigen::MatrixXd both = rates({request.profile, request.reference});
  std::vector<std::string> features = work_class_names();
  for (std::string& feature : features) feature.insert(0, "share_");
  return attribution_of(of, request, AttributionMethod::kAdditive, std::move(features),
                        centred_over_platforms(log_sum_attribution(both.row(0), both.row(1), costs_,
                                                                   Eigen::VectorXd::Zero(costs_.cols()), kLeastTime)));
}

void WorkCosts::save(TensorMap& tensors) const {
  tensors.put("typical_rates", typical_rates_);
  tensors.put("costs", costs_);
}

Status WorkCosts::load(const TensorMap& tensors) {
  const int64_t classes = textbook_costs().size();
  const auto typical = tensors.get("typical_rates", classes, 1);
  if (!typical) return typical.error();
  auto costs = tensors.get("costs", classes);
  if (!costs) return costs.error();
  typical_rates_ = typical->col(0);
  costs_ = std::move(*costs);
  return {};
}

}  // namespace perfcast::program
