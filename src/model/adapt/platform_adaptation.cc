#include "model/adapt/platform_adaptation.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "algebra/dense.h"
#include "base/statistics.h"
#include "base/unknown.h"
#include "model/adapt/adapted_predictor.h"
#include "model/cores/modelled_cycles.h"

namespace perfcast {
namespace {

constexpr double kCoverage = 0.9;
constexpr double kOffsetVariance = 1;  // of the new platform's level: nearly anything

struct LinearMap {
  Eigen::VectorXd weights;
  double offset = 0;
  double left_variance = 0;  // of log times about it, over the programs
};

// Forecasts of the known platforms are about their mean over all of them; a program's training times are about the mean
// of those that it was timed on.
Eigen::MatrixXd centred_rows(const TransferPrior& transfer) {
  const Eigen::MatrixXd filled = transfer.filled();
  return filled.colwise() - filled.rowwise().mean();
}
Eigen::VectorXd level_of(const TransferPrior& transfer) {
  return transfer.program_means() + transfer.filled().rowwise().mean();
}

// [programs x platforms] what models of cores say, as the bundle's inputs have it; 0 where they say nothing.
Eigen::MatrixXd said_by_cores(const Bundle& bundle, const std::vector<Platform>& platforms) {
  Eigen::MatrixXd said =
      Eigen::MatrixXd::Zero(bundle.training_features.rows(), static_cast<Eigen::Index>(platforms.size()));
  const std::vector<std::string> metrics = core_metrics_of(platforms);
  const std::vector<std::string>& names = bundle.feature_names;
  for (size_t j = 0; j < metrics.size(); ++j) {
    const auto found = std::find(names.begin(), names.end(), "relative_" + metrics[j]);
    if (metrics[j].empty() || found == names.end()) continue;
    const Eigen::VectorXd column = bundle.training_features.col(found - names.begin());
    said.col(static_cast<Eigen::Index>(j)) = column.unaryExpr([](double log) { return std::isnan(log) ? 0 : log; });
  }
  return said;
}

// The posterior as a function of what any program does on the known platforms: the prior's weights, moved by a ridge
// regression, in its dual form, that counts each program by how well it is known.
LinearMap map_of(const TransferPrior& transfer, const Gaussian& posterior, size_t platform) {
  const Eigen::MatrixXd rows = centred_rows(transfer);
  LinearMap map;
  map.weights = transfer.weights(platform);
  const Eigen::VectorXd rest = posterior.mean - level_of(transfer) - rows * map.weights;
  const double spread = (rest.array() - rest.mean()).square().mean();
  const double length = rows.rowwise().squaredNorm().mean();
  const double slope_variance = spread / std::max(length, 1e-9);
  Eigen::MatrixXd gram = slope_variance * rows * rows.transpose();
  gram.array() += kOffsetVariance;
  Eigen::MatrixXd noisy = gram;
  noisy.diagonal() += posterior.covariance.diagonal().cwiseMax(0);
  noisy.diagonal().array() += std::max(spread, 1e-4) / 4;
  const Eigen::VectorXd dual = solve_positive_definite(noisy, rest);
  map.weights += slope_variance * (rows.transpose() * dual);
  map.offset = kOffsetVariance * dual.sum();
  map.left_variance = (rest - gram * dual).array().square().mean();
  return map;
}

}  // namespace

PlatformAdaptation::PlatformAdaptation(const Bundle& bundle, const Platform& platform, TransferPrior transfer,
                                       const TransferOptions& options)
    : bundle_(bundle), platform_(platform), transfer_(std::move(transfer)), options_(options) {
  prior_ = transfer_.prior(bundle_.platforms.size());
  measure({});
  prior_half_widths_ = half_widths_;
}

Result<PlatformAdaptation> PlatformAdaptation::start(const Bundle& bundle, const Platform& platform,
                                                     const TransferOptions& options) {
  for (const Platform& known : bundle.platforms) {
    if (known.name != platform.name && known.id != platform.id) continue;
    return usage_error("known-platform", "the bundle forecasts the platform '" + known.name + "' already",
                       platform.name, "--name with another one");
  }
  std::vector<Platform> platforms = bundle.platforms;
  platforms.push_back(platform);
  std::vector<size_t> known(bundle.platforms.size());
  std::iota(known.begin(), known.end(), size_t{0});
  Eigen::MatrixXd times(bundle.training_log_rpv.rows(), bundle.training_log_rpv.cols() + 1);
  times << bundle.training_log_rpv, Eigen::VectorXd::Constant(times.rows(), kUnknown);
  auto transfer =
      TransferPrior::learn(platforms, known, times, said_by_cores(bundle, platforms), bundle.programs, options);
  if (!transfer) return transfer.error();
  return PlatformAdaptation(bundle, platform, std::move(*transfer), options);
}

void PlatformAdaptation::measure(const std::vector<ProgramRun>& runs) {
  runs_ = runs;
  std::vector<Eigen::Index> where;
  Eigen::VectorXd times(static_cast<Eigen::Index>(runs.size()));
  for (size_t i = 0; i < runs.size(); ++i) {
    where.push_back(runs[i].program);
    times(static_cast<Eigen::Index>(i)) = runs[i].log_relative_time;
  }
  posterior_ = transfer_.update(prior_, where, times);
  const Eigen::VectorXd deviations =
      posterior_.covariance.diagonal().cwiseMax(options_.noise_log * options_.noise_log / 4).cwiseSqrt();
  half_widths_ = transfer_.interval_multiples(prior_, where, times, kCoverage).cwiseProduct(deviations);
}

size_t PlatformAdaptation::nearest() const {
  const size_t own = bundle_.platforms.size();
  const Eigen::VectorXd like = transfer_.likeness().covariance(options_.kernel, transfer_.known(), {own}).col(0);
  Eigen::Index nearest = 0;
  like.maxCoeff(&nearest);
  return static_cast<size_t>(nearest);
}

std::vector<ChosenProgram> PlatformAdaptation::suggest(const Eigen::VectorXd& seconds, size_t count) const {
  Eigen::VectorXd left = seconds;
  for (const ProgramRun& run : runs_) left(run.program) = kUnknown;
  return choose_programs(posterior_.covariance, Eigen::VectorXd::Ones(left.size()), left, options_.noise_log, count);
}

Bundle PlatformAdaptation::finish() const {
  const Eigen::Index known = bundle_.training_log_rpv.cols(), programs = bundle_.training_log_rpv.rows();
  const LinearMap map = map_of(transfer_, posterior_, bundle_.platforms.size());
  Bundle bundle = bundle_;
  bundle.platforms.push_back(platform_);
  bundle.predictor = std::make_shared<AdaptedPredictor>(bundle_.predictor, map.weights, map.offset);
  bundle.card.model = bundle.predictor->family();

  // What was measured joins the training times; rows are about the mean of their platforms.
  bundle.training_log_rpv.conservativeResize(Eigen::NoChange, known + 1);
  bundle.training_log_rpv.col(known).setConstant(kUnknown);
  Calibration& calibration = bundle.calibration;
  calibration.residuals.conservativeResize(Eigen::NoChange, known + 1);
  calibration.residuals.col(known).setConstant(kUnknown);
  const Eigen::VectorXd mapped = (centred_rows(transfer_) * map.weights + level_of(transfer_)).array() + map.offset;
  for (const ProgramRun& run : runs_) {
    const double count = (bundle_.training_log_rpv.row(run.program).array().isFinite()).cast<double>().sum();
    const double shift = run.log_relative_time / (count + 1);
    bundle.training_log_rpv(run.program, known) = run.log_relative_time;
    bundle.training_log_rpv.row(run.program).array() -= shift;
    bundle.training_log_seconds_per_instruction_mean(run.program) += shift;
    calibration.residuals(run.program, known) = run.log_relative_time - mapped(run.program);
  }

  // Intervals of the new platform: what a forecast of a known one is off by, and how little is known of the new one.
  std::vector<double> scales(calibration.platform_scale.begin(), calibration.platform_scale.end());
  double own_half = 0;
  for (const double half : half_widths_) own_half += half * half / static_cast<double>(programs);
  const double own_scale = std::sqrt(own_half + map.left_variance) / std::max(calibration.multiple, 1e-9);
  calibration.platform_scale.conservativeResize(known + 1);
  calibration.platform_scale(known) = std::hypot(median(std::move(scales)), own_scale);
  const double own_variance = posterior_.covariance.diagonal().mean() + map.left_variance;
  const Eigen::VectorXd shared = bundle_.calibration.residual_covariance * map.weights;
  Eigen::MatrixXd& covariance = calibration.residual_covariance;
  covariance.conservativeResize(known + 1, known + 1);
  covariance.col(known).head(known) = shared;
  covariance.row(known).head(known) = shared.transpose();
  covariance(known, known) = map.weights.dot(shared) + own_variance;
  return bundle;
}

}  // namespace perfcast
