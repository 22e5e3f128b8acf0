#include "program/model/cores/core_model_predictor.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/cores/modelled_cycles.h"
#include "program/model/fit/targets.h"

namespace perfcast::program {
namespace {

double log_clock_of(const Platform& platform) {
  for (const char* fact : {"max_hz", "tsc_hz"}) {
    const auto found = platform.facts.find(fact);
    if (found != platform.facts.end() && found->second > 0) return std::log(found->second);
  }
  return kUnknown;
}

}  // namespace

Status CoreModelPredictor::fit(const TrainingTable& table, const FitOptions&) {
  if (const auto targets = make_targets(table); !targets) return targets.error();
  metrics_ = core_metrics_of(table.platforms);
  log_clock_.resize(static_cast<Eigen::Index>(table.platforms.size()));
  std::map<std::string, std::vector<double>> of_design;
  std::vector<double> of_all;
  for (size_t j = 0; j < metrics_.size(); ++j) {
    const double clock = log_clock_of(table.platforms[j]);
    log_clock_(static_cast<Eigen::Index>(j)) = clock;
    if (std::isnan(clock)) continue;
    of_design[metrics_[j]].push_back(clock);
    of_all.push_back(clock);
  }
  for (size_t j = 0; j < metrics_.size(); ++j) {
    double& clock = log_clock_(static_cast<Eigen::Index>(j));
    if (!std::isnan(clock)) continue;
    const auto same = of_design.find(metrics_[j]);
    clock = same != of_design.end() ? mean(same->second) : of_all.empty() ? 0 : mean(of_all);
  }
  return {};
}

Eigen::MatrixXd CoreModelPredictor::predict(const std::vector<const Profile*>& profiles) const {
  Eigen::MatrixXd log_rpv = -log_clock_.transpose().replicate(static_cast<Eigen::Index>(profiles.size()), 1);
  if (with_cycles_) log_rpv += relative_log_cycles(profiles, metrics_);
  const Eigen::VectorXd means = log_rpv.rowwise().mean();
  log_rpv.colwise() -= means;
  return log_rpv;
}

Result<FeatureAttribution> CoreModelPredictor::attribute_features(const AttributionRequest& request) const {
  Eigen::MatrixXd change = Eigen::MatrixXd::Zero(1, outputs());
  if (with_cycles_) {
    const Eigen::MatrixXd cycles = relative_log_cycles({request.profile, request.reference}, metrics_);
    change = cycles.row(0) - cycles.row(1);
  }
  std::vector<std::string> features;
  Eigen::MatrixXd log = change_by_design(change.row(0), metrics_, features);
  return attribution_of(*this, request, AttributionMethod::kAdditive, std::move(features), std::move(log));
}

void CoreModelPredictor::save(TensorMap& tensors) const {
  tensors.put_json("metrics", metrics_);
  tensors.put("log_clock", log_clock_);
}

Status CoreModelPredictor::load(const TensorMap& tensors) {
  const auto metrics = tensors.get_json("metrics");
  if (!metrics) return metrics.error();
  metrics_.clear();
  const std::vector<std::string>& known = core_metrics();
  for (const Json& metric : *metrics) {
    metrics_.push_back(metric.is_string() ? metric.get<std::string>() : "?");
    if (!metrics_.back().empty() && std::find(known.begin(), known.end(), metrics_.back()) == known.end()) {
      return Error{"bad-bundle", "it names cycles of a core that is not known", "metrics",
                   "a bundle written by perfcast train"};
    }
  }
  const auto clocks = tensors.get("log_clock", static_cast<int64_t>(metrics_.size()), 1);
  if (!clocks) return clocks.error();
  log_clock_ = clocks->col(0);
  return {};
}

}  // namespace perfcast::program
