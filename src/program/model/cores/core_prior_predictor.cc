#include "program/model/cores/core_prior_predictor.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/cores/modelled_cycles.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/fit/targets.h"

namespace perfcast::program {
namespace {

// Least squares of what the platforms' means leave of the targets on the core models, both without the rows' means.
double slope_of(const Targets& targets, const Eigen::MatrixXd& cycles) {
  const Eigen::RowVectorXd platforms = weighted_mean(targets.log_rpv, targets.weights).transpose();
  const Eigen::RowVectorXd usual = weighted_mean(cycles, targets.weights).transpose();
  double product = 0, square = 0;
  for (Eigen::Index p = 0; p < cycles.rows(); ++p) {
    const Eigen::ArrayXd present = targets.present.row(p).transpose().array();
    const double count = present.sum();
    if (count == 0) continue;
    Eigen::ArrayXd rest = (targets.log_rpv.row(p) - platforms).transpose().array();
    Eigen::ArrayXd said = (cycles.row(p) - usual).transpose().array();
    rest = (rest - (rest * present).sum() / count) * present;
    said = (said - (said * present).sum() / count) * present;
    const double weight = targets.weights(p) * targets.weights(p);
    product += weight * (rest * said).sum();
    square += weight * said.square().sum();
  }
  return square > 0 ? std::clamp(product / square, 0.0, 1.0) : 0.0;
}

// The same of the platforms' means: how far core models tell which platform is the faster one for all programs.
double level_slope_of(const Targets& targets, const Eigen::MatrixXd& cycles) {
  Eigen::VectorXd usual = weighted_mean(cycles, targets.weights);
  Eigen::VectorXd measured = weighted_mean(targets.log_rpv, targets.weights);
  usual.array() -= usual.mean();
  measured.array() -= measured.mean();
  const double square = usual.squaredNorm();
  return square > 0 ? std::clamp(usual.dot(measured) / square, 0.0, 1.0) : 0.0;
}

}  // namespace

CorePriorPredictor::CorePriorPredictor(std::unique_ptr<Predictor> rest) : rest_(std::move(rest)) {}

std::string CorePriorPredictor::family() const { return "cores:" + rest_->family(); }

Json CorePriorPredictor::settings() const { return rest_->settings(); }

Status CorePriorPredictor::configure(const Json& settings, const std::string& source) {
  return rest_->configure(settings, source);
}

Status CorePriorPredictor::fit(const TrainingTable& table, const FitOptions& options) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  metrics_ = core_metrics_of(table.platforms);
  slope_ = 1;
  const Eigen::MatrixXd usual = relative_log_cycles(profiles_of(table), metrics_);
  seen_.resize(2, usual.cols());
  seen_ << usual.colwise().minCoeff(), usual.colwise().maxCoeff();
  const Eigen::MatrixXd cycles = prior(profiles_of(table)).log_rpv;
  slope_ = slope_of(*targets, cycles);
  level_slope_ = level_slope_of(*targets, usual);
  TrainingTable rest = table;
  for (size_t p = 0; p < rest.programs.size(); ++p) {
    for (size_t j = 0; j < rest.platforms.size(); ++j) {
      auto& time = rest.times[p * rest.platforms.size() + j];
      if (time) time->log_time -= slope_ * cycles(static_cast<Eigen::Index>(p), static_cast<Eigen::Index>(j));
    }
  }
  return rest_->fit(rest, options);
}

Eigen::MatrixXd CorePriorPredictor::held(const Eigen::MatrixXd& said) const {
  Eigen::MatrixXd within = said;
  if (seen_.size() == 0) return within;
  for (Eigen::Index p = 0; p < said.rows(); ++p) {
    within.row(p) = said.row(p).cwiseMax(slope_ * seen_.row(0)).cwiseMin(slope_ * seen_.row(1));
  }
  return within;
}

CorePriorPredictor::Prior CorePriorPredictor::prior(const std::vector<const Profile*>& profiles) const {
  const Eigen::MatrixXd said = slope_ * relative_log_cycles(profiles, metrics_);
  Prior prior{held(said), Eigen::VectorXd::Zero(said.rows())};
  if (seen_.size() > 0) {
    prior.held = ((said - prior.log_rpv).rowwise().squaredNorm() / static_cast<double>(said.cols())).cwiseSqrt();
  }
  const Eigen::VectorXd means = prior.log_rpv.rowwise().mean();
  prior.log_rpv.colwise() -= means;
  return prior;
}

Eigen::MatrixXd CorePriorPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return rest_->predict(profiles) + prior(profiles).log_rpv;
}

Prediction CorePriorPredictor::predict_with_disagreement(const std::vector<const Profile*>& profiles) const {
  Prediction said = rest_->predict_with_disagreement(profiles);
  const Prior prior = this->prior(profiles);
  said.log_rpv += prior.log_rpv;
  said.disagreement = (said.disagreement.cwiseAbs2() + prior.held.cwiseAbs2()).cwiseSqrt();
  return said;
}

Eigen::MatrixXd CorePriorPredictor::prior_on(const std::vector<Platform>& platforms,
                                             const std::vector<const Profile*>& profiles) const {
  const Eigen::MatrixXd cycles = relative_log_cycles(profiles, core_metrics_of(platforms));
  const Eigen::RowVectorXd usual = cycles.colwise().mean();
  Eigen::MatrixXd prior = slope_ * cycles;
  prior.rowwise() += (level_slope_ - slope_) * usual;
  return prior;
}

// What core models say of a platform depends on its design alone, whatever holds it within what was seen.
Result<FeatureAttribution> CorePriorPredictor::attribute_features(const AttributionRequest& request) const {
  auto rest = perfcast::program::attribute_features(*rest_, request);
  if (!rest) return rest;
  const std::vector<const Profile*> both_profiles = {request.profile, request.reference};
  const Eigen::MatrixXd own = prior(both_profiles).log_rpv;
  const Eigen::MatrixXd cycles = held(slope_ * relative_log_cycles(both_profiles, metrics_));
  FeatureAttribution cores;
  cores.baseline_log = own.row(1);
  cores.forecast_log = own.row(0);
  cores.log = change_by_design(cycles.row(0) - cycles.row(1), metrics_, cores.features);
  std::vector<FeatureAttribution> parts;
  parts.reserve(2);
  parts.push_back(std::move(*rest));
  parts.push_back(std::move(cores));
  FeatureAttribution both = sum_of(parts, 1);
  both.parts.push_back({"cores", AttributionMethod::kAdditive, 0});
  return both;
}

int64_t CorePriorPredictor::outputs() const { return rest_->outputs(); }

void CorePriorPredictor::save(TensorMap& tensors) const {
  Json seen = Json::object();
  for (size_t j = 0; j < metrics_.size() && seen_.size() > 0; ++j) {
    const auto column = static_cast<Eigen::Index>(j);
    if (!metrics_[j].empty()) seen[metrics_[j]] = {seen_(0, column), seen_(1, column)};
  }
  tensors.put_json("cores", {{"rest", rest_->family()},
                             {"slope_ratio", slope_},
                             {"level_slope_ratio", level_slope_},
                             {"metrics", metrics_},
                             {"seen_log_ratio", std::move(seen)}});
  TensorMap rest;
  rest_->save(rest);
  tensors.put_within("rest", rest);
}

Status CorePriorPredictor::load(const TensorMap& tensors) {
  const auto bad = [](const std::string& what) {
    return Error{"bad-bundle", "what it says of core models is " + what, "cores", "a bundle written by perfcast train"};
  };
  const auto json = tensors.get_json("cores");
  if (!json) return json.error();
  if (!json->is_object() || !json->contains("rest") || !(*json)["rest"].is_string() || !json->contains("metrics") ||
      !(*json)["metrics"].is_array() || !json->contains("slope_ratio") || !(*json)["slope_ratio"].is_number()) {
    return bad("not complete");
  }
  if ((*json)["rest"] != rest_->family()) return bad("of another family");
  slope_ = (*json)["slope_ratio"].get<double>();
  const Json level = json->value("level_slope_ratio", Json(slope_));  // earlier bundles have one slope
  if (!level.is_number()) return bad("not complete");
  level_slope_ = level.get<double>();
  if (!(slope_ >= 0 && slope_ <= 1 && level_slope_ >= 0 && level_slope_ <= 1)) return bad("a slope beyond 0 to 1");
  metrics_.clear();
  const std::vector<std::string>& known = core_metrics();
  for (const Json& metric : (*json)["metrics"]) {
    const std::string name = metric.is_string() ? metric.get<std::string>() : "?";
    if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end()) return bad("of unknown metrics");
    metrics_.push_back(name);
  }
  seen_.resize(0, 0);
  if (json->contains("seen_log_ratio")) {  // earlier bundles don't tell
    const Json& seen = (*json)["seen_log_ratio"];
    seen_ = Eigen::MatrixXd::Zero(2, static_cast<Eigen::Index>(metrics_.size()));
    for (size_t j = 0; j < metrics_.size(); ++j) {
      if (metrics_[j].empty()) continue;
      const auto range = seen.is_object() ? seen.find(metrics_[j]) : seen.end();
      if (range == seen.end() || !range->is_array() || range->size() != 2 || !(*range)[0].is_number() ||
          !(*range)[1].is_number() || (*range)[0] > (*range)[1]) {
        return bad("of impossible ranges");
      }
      seen_(0, static_cast<Eigen::Index>(j)) = (*range)[0].get<double>();
      seen_(1, static_cast<Eigen::Index>(j)) = (*range)[1].get<double>();
    }
  }
  if (auto status = rest_->load(tensors.within("rest")); !status) return status;
  if (static_cast<int64_t>(metrics_.size()) != rest_->outputs()) return bad("of another number of platforms");
  return {};
}

}  // namespace perfcast::program
