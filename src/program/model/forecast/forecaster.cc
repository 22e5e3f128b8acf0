#include "program/model/forecast/forecaster.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/statistics.h"
#include "base/text.h"
#include "base/unknown.h"
#include "profile/metrics/catalogue.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/forecast/wider_vectors.h"

namespace perfcast::program {
namespace {

constexpr size_t kNearest = 3;
constexpr double kMissingLimit = 0.2;  // share of absent features above which nothing is promised
constexpr double kWidestFactor = 4;    // of intervals out of distribution
constexpr double kLeastFactor = 1.25;  // likewise
constexpr const char* kKernelShare = "kernel_cpu_ratio";

std::string percent(double share) { return std::to_string(static_cast<int>(std::lround(100 * share))) + "%"; }

std::string fine_percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", 100 * share);
  return text;
}

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

double missing_share(const Eigen::RowVectorXd& features) {
  return features.unaryExpr([](double value) { return std::isnan(value) ? 1.0 : 0.0; }).mean();
}

std::optional<double> kernel_share(const Profile& profile) {
  const auto ratio = profile.metrics.find(kKernelShare);
  if (ratio != profile.metrics.end()) return ratio->second;
  const auto system = profile.metrics.find("system_s");
  const auto cpu = profile.metrics.find("cpu_s");
  if (system == profile.metrics.end() || cpu == profile.metrics.end() || !(cpu->second > 0)) return std::nullopt;
  return system->second / cpu->second;
}

constexpr const char* kOfKernels =
    "the model was trained on OpenCL kernels: a profile of an OpenCL program has them, and --process KERNEL takes one "
    "(docs/opencl.md)";

// What gives a profile the counters that this model was trained on: our own collectors, or what the training rows came
// from.
std::string mend_of_missing(const ModelInputs& inputs, const Profile& profile) {
  constexpr size_t kNamed = 5;
  std::vector<std::string> names;
  size_t foreign = 0;
  for (const std::string& name : inputs.missing_counters(profile)) {
    const Metric* metric = Catalogue::built_in().find(name);
    if (metric != nullptr && metric->of_kernel) return kOfKernels;
    if (metric != nullptr && !metric->imported && !metric->gpu_only) continue;
    if (++foreign <= kNamed) names.push_back(name);
  }
  if (foreign == 0) return "perfcast doctor says which collectors can be had";
  return "the model was trained on columns that perfcast profile doesn't count: " + join(names, ", ") +
         (foreign > kNamed ? " and " + std::to_string(foreign - kNamed) + " more" : "") +
         ". A row with these columns can be forecast: perfcast import table, then perfcast corpus export makes a "
         "profile of it (docs/predict-row.md)";
}

Eigen::VectorXd family_weights(const std::vector<Program>& programs) {
  Eigen::VectorXd weights(static_cast<Eigen::Index>(programs.size()));
  for (Eigen::Index p = 0; p < weights.size(); ++p) {
    const auto members = std::count_if(programs.begin(), programs.end(), [&](const Program& other) {
      return other.family == programs[static_cast<size_t>(p)].family;
    });
    weights(p) = 1 / std::sqrt(static_cast<double>(members));
  }
  return weights;
}

}  // namespace

Eigen::MatrixXd feature_distances(const Eigen::MatrixXd& queries, const Eigen::MatrixXd& rows) {
  Eigen::MatrixXd result(queries.rows(), rows.rows());
  for (Eigen::Index q = 0; q < queries.rows(); ++q) {
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      double sum = 0;
      double shared = 0;
      for (Eigen::Index c = 0; c < rows.cols(); ++c) {
        const double difference = queries(q, c) - rows(r, c);
        if (std::isnan(difference)) continue;
        sum += difference * difference;
        ++shared;
      }
      result(q, r) = shared > 0 ? std::sqrt(sum / shared) : kUnknown;
    }
  }
  return result;
}

Forecaster::Forecaster(std::shared_ptr<const Bundle> bundle)
    : bundle_(std::move(bundle)), host_spread_(std::make_shared<HostSpread>(bundle_)) {
  standardiser_ = Standardiser::fit(bundle_->training_features, family_weights(bundle_->programs));
  rows_ = standardiser_.apply_with_gaps(bundle_->training_features);
}

void Forecaster::judge(const Profile& profile, const Eigen::RowVectorXd& features, double disagreement,
                       Forecast& result) const {
  const auto outside = [&result](const std::string& code, const std::string& message, const std::string& advice) {
    result.in_distribution = false;
    result.outside.push_back(code);
    result.warnings.push_back({code, message, advice});
  };
  // A command of several programs is like none of them.
  const std::string part = profile.parts.size() > 1 ? profile.parts.front().program : "";
  const std::string mend =
      (part.empty() ? "" : "forecast the program that takes most of its time alone: --process " + part + "; or ") +
      std::string(
          "time it on a machine that you consider, and pass that time: --measured \"NAME=SECONDS\". One such time "
          "narrows the intervals, two do more; without any, take the order of machines for a guess");
  const Eigen::RowVectorXd distances = feature_distances(standardiser_.apply_with_gaps(features), rows_);
  std::vector<Eigen::Index> order(static_cast<size_t>(distances.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) {
    return std::isnan(distances(b)) ? !std::isnan(distances(a)) : distances(a) < distances(b);
  });
  for (size_t i = 0; i < std::min(kNearest, order.size()); ++i) {
    result.nearest.push_back({bundle_->programs[static_cast<size_t>(order[i])].id, distances(order[i])});
  }
  result.distance = order.empty() ? kUnknown : distances(order.front());

  if (!(result.distance <= bundle_->distance_limit)) {
    outside("unlike-training",
            "the program is unlike all training programs: its distance to the nearest one is " +
                two_digits(result.distance) + ", and at most " + two_digits(bundle_->distance_limit) + " is usual",
            mend);
  }
  if (disagreement > bundle_->calibration.disagreement_limit * (1 + 1e-9)) {
    outside("models-disagree",
            "the parts of the model disagree by " + fine_percent(disagreement) + " on average, and at most " +
                fine_percent(bundle_->calibration.disagreement_limit) + " is usual",
            mend);
  }
  if (const auto share = kernel_share(profile); share && *share > bundle_->kernel_share_limit) {
    outside(
        "os-heavy",
        "the kernel took " + percent(*share) + " of the CPU time, and perfcast can't forecast the kernel's time well",
        "time it on the machines that you consider: the kernel's time depends on its version, on the hypervisor and on "
        "devices. Without that, take the forecast for a guess");
  }
  const auto& sets = bundle_->instruction_sets;
  if (!profile.instruction_set.empty() && !sets.empty() &&
      std::find(sets.begin(), sets.end(), profile.instruction_set) == sets.end()) {
    outside(
        "other-instruction-set",
        "the program is " + profile.instruction_set + ", the model was trained on " + join(sets, ", ") + " programs",
        "profile a build for " + sets.front());
  }
  if (const double missing = missing_share(features); missing > kMissingLimit) {
    outside("counters-missing", percent(missing) + " of the numbers that the model needs are absent from the profile",
            mend_of_missing(bundle_->model_inputs, profile));
  }
  if (!bundle_->model_inputs.knows_source(profile)) {
    const std::string& host = profile.host.name;
    outside("unknown-source",
            (host.empty() ? std::string("the profile doesn't say which platform it was taken on")
                          : "the profile was taken on " + host) +
                "; the model knows only profiles from " + join(bundle_->model_inputs.sources(), ", "),
            "profile the program on one of them");
  }
  for (const ProfileWarning& warning : profile.warnings) {
    if (warning.code == "clock-bound" || warning.code == "exec-not-followed" || warning.code == "other-code-path") {
      outside(warning.code, warning.message, warning.advice);
    }
  }
}

// Programs err alike on the same platforms when they are alike: residuals count by similarity, the fourth power of a
// Gaussian kernel of the feature distance.
Eigen::MatrixXd Forecaster::covariance_near(const Eigen::RowVectorXd& features) const {
  const Calibration& calibration = bundle_->calibration;
  const Eigen::RowVectorXd distances = feature_distances(standardiser_.apply_with_gaps(features), rows_);
  double nearest = std::numeric_limits<double>::infinity();
  for (const double distance : distances) nearest = distance < nearest ? distance : nearest;
  if (!std::isfinite(nearest)) return calibration.residual_covariance;
  std::map<std::string, double> members;
  for (const Program& program : bundle_->programs) ++members[program.family];
  Eigen::VectorXd weights(distances.size());
  for (Eigen::Index p = 0; p < weights.size(); ++p) {
    const double excess = distances(p) * distances(p) - nearest * nearest;
    weights(p) = std::isnan(excess)
                     ? 0
                     : std::exp(-2 * excess) / std::sqrt(members.at(bundle_->programs[static_cast<size_t>(p)].family));
  }
  return residual_covariance(calibration.residuals, weights, bundle_->platforms);
}

// Each replicate is the program seen through a part of the windows: forecasts from them scatter by the sampling error
// of that part, their mean by that of all. Random groups; Wolter, Introduction to Variance Estimation, chapter 2.
Eigen::VectorXd Forecaster::sampling_half_width(const Profile& profile) const {
  std::vector<Profile> seen(profile.replicates.size(), profile);
  std::vector<const Profile*> pointers;
  for (size_t r = 0; r < seen.size(); ++r) {
    for (const auto& [name, value] : profile.replicates[r]) seen[r].metrics[name] = value;
    pointers.push_back(&seen[r]);
  }
  const Eigen::MatrixXd forecasts = bundle_->predictor->predict_with_disagreement(pointers).log_rpv;
  const auto n = static_cast<double>(seen.size());
  const Eigen::RowVectorXd mean = forecasts.colwise().mean();
  const Eigen::RowVectorXd variance = (forecasts.rowwise() - mean).cwiseAbs2().colwise().sum() / (n - 1) / n;
  return student_quantile(0.95, n - 1) * variance.cwiseSqrt().transpose();
}

Result<Forecast> Forecaster::forecast(const Profile& profile, const std::vector<Measurement>& measured) const {
  const std::vector<const Profile*> one = {&profile};
  const Eigen::MatrixXd features = bundle_->model_inputs.extract(one);
  if (missing_share(features.row(0)) == 1) {
    // The collectors said why: a program that only starts others, no emulator, no folder for its counts, ...
    const ProfileWarning* reason = nullptr;
    for (const ProfileWarning& warning : profile.warnings) {
      if (reason == nullptr && is_serious(warning)) reason = &warning;
      if (warning.code == "exec-not-followed") reason = &warning;
    }
    if (reason != nullptr)
      return Error{"bad-profile", "no instruction mix: " + reason->message, profile.program, reason->advice};
    const bool by_columns = bundle_->model_inputs.kind() == ModelInputs::Kind::kCounters;
    return Error{"bad-profile", "the profile has none of the counters that a forecast needs", profile.program,
                 by_columns ? mend_of_missing(bundle_->model_inputs, profile)
                            : "a profile with an instruction count and mix, as perfcast profile takes"};
  }
  Forecast result;
  const Calibration& calibration = bundle_->calibration;
  const Prediction prediction = bundle_->predictor->predict_with_disagreement(one);
  judge(profile, features.row(0), prediction.disagreement(0), result);
  if (measured.empty() && !prediction.best.empty()) result.best = prediction.best.front();

  const Eigen::VectorXd wider_vectors = wider_vectors_deviation(profile, bundle_->platforms);
  if (auto warning = wider_vectors_warning(profile, bundle_->platforms)) result.warnings.push_back(*std::move(warning));

  Gaussian belief{prediction.log_rpv.row(0), calibration.residual_covariance};
  belief.covariance += wider_vectors * wider_vectors.transpose();
  Eigen::VectorXd half = interval_half_widths(calibration, prediction.disagreement).row(0);
  double wider = 1;
  if (!result.in_distribution) {
    const double excess = bundle_->distance_limit > 0 ? result.distance / bundle_->distance_limit : kLeastFactor;
    wider = std::isnan(excess) ? kWidestFactor : std::clamp(excess, kLeastFactor, kWidestFactor);
  }
  // What nobody counted may be of any kind: then the profile says as little as one that resembles nothing.
  if (profile.partly_seen) wider *= 1 + (kWidestFactor - 1) * profile.partly_seen->unlike_ratio;
  half *= std::min(wider, kWidestFactor);
  if (profile.replicates.size() > 1) {
    half = (half.cwiseAbs2() + sampling_half_width(profile).cwiseAbs2()).cwiseSqrt().eval();
  }
  half = (half.cwiseAbs2() + (kNormal95 * wider_vectors).cwiseAbs2()).cwiseSqrt().eval();
  if (!measured.empty()) {
    belief.covariance = covariance_near(features) + wider_vectors * wider_vectors.transpose();
    const Eigen::VectorXd before = relative_deviations(belief.covariance);
    auto posterior = condition(belief, measured, kMeasurementNoiseLog);
    if (!posterior) return posterior.error();
    belief = *posterior;
    belief.mean.array() -= belief.mean.mean();
    half = half.cwiseProduct(relative_deviations(belief.covariance).cwiseQuotient(before.cwiseMax(1e-12)));
    result.log_seconds = implied_log_seconds(belief, measured);
  }
  if (measured.empty() && prediction.log_seconds.size() > 0 && std::isfinite(prediction.log_seconds(0)) &&
      calibration.seconds_half_width) {
    result.log_seconds = prediction.log_seconds(0);
    result.seconds_half_width = *calibration.seconds_half_width * std::min(wider, kWidestFactor);
  }
  result.log_rpv = belief.mean;
  result.covariance = belief.covariance;
  result.half_width = half;
  result.lower = result.log_rpv - half;
  result.upper = result.log_rpv + half;
  return result;
}

Forecast Forecaster::relative_to(const Forecast& forecast, int64_t platform) {
  Forecast result = forecast;
  const double shift = forecast.log_rpv(platform);
  const Eigen::VectorXd against_mean = relative_deviations(forecast.covariance);
  const Eigen::VectorXd variances = forecast.covariance.diagonal();
  result.reference = platform;
  result.log_rpv.array() -= shift;
  if (result.log_seconds) *result.log_seconds += shift;
  for (Eigen::Index j = 0; j < result.log_rpv.size(); ++j) {
    const double variance = variances(j) + variances(platform) - 2 * forecast.covariance(j, platform);
    const double ratio = std::sqrt(std::max(variance, 0.0)) / std::max(against_mean(j), 1e-12);
    const double half = j == platform ? 0 : forecast.half_width(j) * ratio;
    result.lower(j) = result.log_rpv(j) - half;
    result.upper(j) = result.log_rpv(j) + half;
  }
  return result;
}

}  // namespace perfcast::program
