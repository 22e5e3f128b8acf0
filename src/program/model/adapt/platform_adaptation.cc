#include "program/model/adapt/platform_adaptation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "base/statistics.h"
#include "base/unknown.h"
#include "learn/algebra/dense.h"
#include "program/model/adapt/adapted_predictor.h"
#include "program/model/cores/modelled_cycles.h"

namespace perfcast::program {
namespace {

constexpr double kCoverage = 0.9;
constexpr double kLeastScale = 1e-4;   // as of the known platforms
constexpr double kOffsetVariance = 1;  // of the new platform's level: nearly anything

struct LinearMap {
  Eigen::VectorXd weights;
  double offset = 0;
  Eigen::VectorXd left;  // of each program, log: its time less what the map says that was made without its family
};

using Families = std::map<std::string, std::vector<Eigen::Index>>;  // programs by family

Families families_of(const std::vector<Program>& programs) {
  Families families;
  for (size_t p = 0; p < programs.size(); ++p) families[programs[p].family].push_back(static_cast<Eigen::Index>(p));
  return families;
}

// Forecasts of the known platforms are about their mean over all of them; a program's training times are about the mean
// of those that it was timed on.
Eigen::MatrixXd centred_rows(const TransferPrior& transfer) {
  const Eigen::MatrixXd filled = transfer.filled();
  return filled.colwise() - filled.rowwise().mean();
}
Eigen::VectorXd level_of(const TransferPrior& transfer) {
  return transfer.program_means() + transfer.filled().rowwise().mean();
}

// [programs x platforms] what models of cores say, as the bundle's inputs have it, and what its model knows of kernels'
// costs on any platform; 0 where they say nothing.
Eigen::MatrixXd said_of(const Bundle& bundle, const std::vector<Platform>& platforms) {
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
  if (bundle.predictor) {
    const Eigen::MatrixXd of_kernels = bundle.predictor->prior_of_training(platforms);
    if (of_kernels.rows() == said.rows()) said += of_kernels;
  }
  return said;
}

// The posterior as a function of what any program does on the known platforms: the prior's weights, moved by a ridge
// regression, in its dual form, that counts each program by how well it is known.
LinearMap map_of(const TransferPrior& transfer, const Gaussian& posterior, size_t platform, const Families& families) {
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
  const Eigen::MatrixXd inverse = inverse_positive_definite(noisy);
  const Eigen::VectorXd dual = inverse * rest;
  map.weights += slope_variance * (rows.transpose() * dual);
  map.offset = kOffsetVariance * dual.sum();
  // In closed form, as TransferPrior leaves out designs.
  map.left.resize(rest.size());
  for (const auto& [family, members] : families) {
    map.left(members) =
        solve_positive_definite(Eigen::MatrixXd(inverse(members, members)), Eigen::VectorXd(dual(members)));
  }
  return map;
}

// Mean square, log, of what a program of a new family takes over what the map says of it: of those that were measured,
// what the map without their family missed; of the others, how far their forecasts may be off besides. Families weigh
// the same.
double own_variance_of(const LinearMap& map, const Families& families, const Eigen::VectorXd& half_widths,
                       const std::vector<ProgramRun>& runs) {
  Eigen::VectorXd squares = map.left.cwiseAbs2() + half_widths.cwiseAbs2() / (kNormal95 * kNormal95);
  for (const ProgramRun& run : runs) squares(run.program) = map.left(run.program) * map.left(run.program);
  double sum = 0;
  for (const auto& [family, members] : families) sum += Eigen::VectorXd(squares(members)).mean();
  return sum / static_cast<double>(families.size());
}

// Two things are not known of a program on the new platform: what it does on the known ones, of which its forecast is
// a weighted sum, and what the new one makes of that. The first is worth more where the model's parts agree.
void add_intervals(const Eigen::VectorXd& weights, double own_variance, Calibration& calibration) {
  const Eigen::Index known = calibration.platform_scale.size();
  Eigen::VectorXd own = Eigen::VectorXd::Zero(known + 1);
  own.head(calibration.own_half_width.size()) = calibration.own_half_width;  // of platforms that joined before
  const Eigen::VectorXd joined_variance = own.head(known).cwiseAbs2() / (kNormal95 * kNormal95);
  own(known) = kNormal95 * std::sqrt(own_variance + weights.cwiseAbs2().dot(joined_variance));

  Eigen::MatrixXd& covariance = calibration.residual_covariance;
  Eigen::MatrixXd of_model = covariance;
  of_model.diagonal() -= joined_variance;
  std::vector<double> ratios;
  for (Eigen::Index j = 0; j < known; ++j) {
    ratios.push_back(calibration.platform_scale(j) / std::sqrt(std::max(of_model(j, j), kLeastScale * kLeastScale)));
  }
  const double combined = std::sqrt(std::max(weights.dot(of_model * weights), 0.0));
  calibration.platform_scale.conservativeResize(known + 1);
  calibration.platform_scale(known) = std::max(median(std::move(ratios)) * combined, kLeastScale);
  calibration.own_half_width = own;

  const Eigen::VectorXd shared = covariance * weights;
  covariance.conservativeResize(known + 1, known + 1);
  covariance.col(known).head(known) = shared;
  covariance.row(known).head(known) = shared.transpose();
  covariance(known, known) = weights.dot(shared) + own_variance;
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
                       platform.name, "another name");
  }
  std::vector<Platform> platforms = bundle.platforms;
  platforms.push_back(platform);
  std::vector<size_t> known(bundle.platforms.size());
  std::iota(known.begin(), known.end(), size_t{0});
  Eigen::MatrixXd times(bundle.training_log_rpv.rows(), bundle.training_log_rpv.cols() + 1);
  times << bundle.training_log_rpv, Eigen::VectorXd::Constant(times.rows(), kUnknown);
  auto transfer = TransferPrior::learn(platforms, known, times, said_of(bundle, platforms), bundle.programs, options);
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
  check_ = transfer_.check(prior_, where, times);
  kept_ = TransferPrior::with_share(prior_, posterior_, check_.share);
  const Eigen::VectorXd multiples = transfer_.interval_multiples(prior_, where, times, kCoverage);
  const auto widths = [&](const Gaussian& of) -> Eigen::VectorXd {
    const double least = options_.noise_log * options_.noise_log / 4;
    return multiples.cwiseProduct(of.covariance.diagonal().cwiseMax(least).cwiseSqrt());
  };
  half_widths_ = widths(posterior_);
  kept_half_widths_ = check_.gains() ? widths(kept_) : prior_half_widths_;
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
  const Eigen::Index known = bundle_.training_log_rpv.cols();
  const Families families = families_of(bundle_.programs);
  const LinearMap map = map_of(transfer_, kept(), bundle_.platforms.size(), families);
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
  for (const ProgramRun& run : runs_) {
    const double count = (bundle_.training_log_rpv.row(run.program).array().isFinite()).cast<double>().sum();
    const double shift = run.log_relative_time / (count + 1);
    bundle.training_log_rpv(run.program, known) = run.log_relative_time;
    bundle.training_log_rpv.row(run.program).array() -= shift;
    bundle.training_log_seconds_per_instruction_mean(run.program) += shift;
    // As those of the known platforms: of a forecast that was made without the program's family.
    const Eigen::RowVectorXd of_known = bundle_.calibration.residuals.row(run.program);
    calibration.residuals(run.program, known) =
        of_known.array().isNaN().select(0, of_known).dot(map.weights) + map.left(run.program);
  }
  add_intervals(map.weights, own_variance_of(map, families, kept_half_widths(), runs_), calibration);
  return bundle;
}

}  // namespace perfcast::program
