#include "program/model/attribution/feature_attribution.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "program/model/fit/standardised_inputs.h"
#include "program/model/predictor.h"

namespace perfcast::program {
namespace {

double residue_of(const FeatureAttribution& attribution) {
  if (attribution.forecast_log.size() == 0) return 0;
  const Eigen::VectorXd sums = attribution.baseline_log + attribution.log.colwise().sum().transpose();
  return (sums - attribution.forecast_log).cwiseAbs().maxCoeff();
}

}  // namespace

Result<FeatureAttribution> attribute_features(const Predictor& predictor, const AttributionRequest& request) {
  const auto* attributor = dynamic_cast<const FeatureAttributor*>(&predictor);
  if (attributor == nullptr) {
    return Error{"no-attribution", "the model '" + predictor.family() + "' does not tell what its inputs add", "",
                 "a model that perfcast train makes"};
  }
  auto attribution = attributor->attribute_features(request);
  if (!attribution) return attribution;
  // What the parts said of themselves is not taken for it: the sums must meet what predict() says of the whole.
  attribution->forecast_log = predictor.predict({request.profile}).row(0);
  attribution->residue_log = residue_of(*attribution);
  if (!(attribution->residue_log <= kMostResidueLog)) {
    char off[32];
    std::snprintf(off, sizeof off, "%.1e", attribution->residue_log);
    return Error{"attribution-incomplete",
                 "what the inputs add differs from the forecast by " + std::string(off) + " in log relative time", "",
                 "at most 1e-6"};
  }
  return attribution;
}

AttributedRows attributed_rows(const StandardisedInputs& inputs, const AttributionRequest& request) {
  const Eigen::MatrixXd rows = inputs.rows({request.profile, request.reference});
  return {rows.row(0), rows.row(1)};
}

FeatureAttribution attribution_of(const Predictor& predictor, const AttributionRequest& request,
                                  AttributionMethod method, std::vector<std::string> features, Eigen::MatrixXd log) {
  FeatureAttribution result;
  const Eigen::MatrixXd forecasts = predictor.predict({request.profile, request.reference});
  result.features = std::move(features);
  result.log = std::move(log);
  result.forecast_log = forecasts.row(0);
  result.baseline_log = forecasts.row(1);
  result.residue_log = residue_of(result);
  result.parts.push_back({predictor.family(), method, result.residue_log});
  return result;
}

FeatureAttribution sum_of(const std::vector<FeatureAttribution>& parts, double weight) {
  FeatureAttribution sum;
  if (parts.empty()) return sum;
  std::map<std::string, Eigen::Index> place;
  for (const FeatureAttribution& part : parts) {
    for (const std::string& feature : part.features) {
      if (!place.try_emplace(feature, static_cast<Eigen::Index>(sum.features.size())).second) continue;
      sum.features.push_back(feature);
    }
  }
  const Eigen::Index platforms = parts.front().baseline_log.size();
  sum.log = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(sum.features.size()), platforms);
  sum.baseline_log = sum.forecast_log = Eigen::VectorXd::Zero(platforms);
  for (const FeatureAttribution& part : parts) {
    for (size_t f = 0; f < part.features.size(); ++f) {
      sum.log.row(place.at(part.features[f])) += weight * part.log.row(static_cast<Eigen::Index>(f));
    }
    sum.baseline_log += weight * part.baseline_log;
    sum.forecast_log += weight * part.forecast_log;
    sum.parts.insert(sum.parts.end(), part.parts.begin(), part.parts.end());
  }
  sum.residue_log = residue_of(sum);
  return sum;
}

Eigen::MatrixXd centred_over_platforms(Eigen::MatrixXd log) {
  if (log.cols() == 0) return log;
  const Eigen::VectorXd means = log.rowwise().mean();
  log.colwise() -= means;
  return log;
}

}  // namespace perfcast::program
