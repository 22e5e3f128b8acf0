#include "program/model/bundle/train_bundle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/statistics.h"
#include "program/model/features/model_inputs.h"
#include "program/model/features/work_features.h"
#include "program/model/fit/standardised_inputs.h"
#include "program/model/fit/targets.h"
#include "program/model/forecast/forecaster.h"
#include "program/model/predictor.h"

namespace perfcast::program {
namespace {

constexpr double kUsualShare = 0.95;
constexpr double kLeastKernelShare = 0.2;

// Distance of each training program to the nearest of another family, as Forecaster measures it.
double usual_distance(const Eigen::MatrixXd& features, const Targets& targets) {
  const Standardiser standardiser = Standardiser::fit(features, targets.weights);
  const Eigen::MatrixXd rows = standardiser.apply_with_gaps(features);
  const Eigen::MatrixXd distances = feature_distances(rows, rows);
  std::vector<double> nearest;
  std::vector<double> weights;
  for (Eigen::Index p = 0; p < distances.rows(); ++p) {
    double least = std::numeric_limits<double>::infinity();
    for (Eigen::Index q = 0; q < distances.cols(); ++q) {
      if (targets.family[static_cast<size_t>(p)] != targets.family[static_cast<size_t>(q)]) {
        least = std::min(least, distances(p, q));
      }
    }
    if (!std::isfinite(least)) continue;  // shares no feature with any other family
    nearest.push_back(least);
    weights.push_back(targets.weights(p) * targets.weights(p));
  }
  return nearest.empty() ? 0 : weighted_quantile(nearest, weights, kUsualShare);
}

// The median over the programs that state a metric.
MetricValues typical_rates(const TrainingTable& table) {
  std::map<std::string, std::vector<double>> rates;
  for (const Profile& profile : table.profiles) {
    const auto instructions = profile.metrics.find("instructions_count");
    if (instructions == profile.metrics.end() || !(instructions->second > 0)) continue;
    for (const std::string& name : all_feature_metrics()) {
      const auto count = profile.metrics.find(name);
      if (count != profile.metrics.end()) rates[name].push_back(count->second / instructions->second);
    }
  }
  MetricValues typical;
  for (auto& [name, values] : rates) typical[name] = median(std::move(values));
  return typical;
}

double usual_kernel_share(const TrainingTable& table) {
  std::vector<double> shares;
  for (const Profile& profile : table.profiles) {
    const auto ratio = profile.metrics.find("kernel_cpu_ratio");
    if (ratio != profile.metrics.end()) shares.push_back(ratio->second);
  }
  const std::vector<double> weights(shares.size(), 1);
  return shares.empty() ? kLeastKernelShare
                        : std::max(kLeastKernelShare, weighted_quantile(shares, weights, kUsualShare));
}

}  // namespace

Result<Bundle> train_bundle(const TrainingTable& table, const TrainOptions& options) {
  auto predictor = make_predictor(options.model, options.fit.settings);
  if (!predictor) return predictor.error();
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  if (auto status = (*predictor)->fit(table, options.fit); !status) return status.error();
  const auto predictions = (*predictor)->out_of_family(table, options.fit);
  if (!predictions) return predictions.error();

  Bundle bundle;
  bundle.card.model = options.model;
  bundle.platforms = table.platforms;
  bundle.programs = table.programs;
  for (const Profile& profile : table.profiles) {
    auto& sets = bundle.instruction_sets;
    if (profile.instruction_set.empty()) continue;
    if (std::find(sets.begin(), sets.end(), profile.instruction_set) == sets.end()) {
      sets.push_back(profile.instruction_set);
    }
  }
  std::sort(bundle.instruction_sets.begin(), bundle.instruction_sets.end());
  bundle.model_inputs = ModelInputs::choose(table);
  bundle.feature_names = bundle.model_inputs.names();
  bundle.training_features = bundle.model_inputs.extract(profiles_of(table));
  bundle.training_log_rpv = log_rpv(table);
  bundle.training_log_seconds_per_instruction_mean = log_seconds_per_instruction(table, *targets);
  bundle.typical_rates = typical_rates(table);
  bundle.calibration = calibrate(*predictions, *targets, table, options.coverage);
  bundle.distance_limit = targets->families > 1 ? usual_distance(bundle.training_features, *targets) : 0;
  bundle.kernel_share_limit = usual_kernel_share(table);
  bundle.predictor = std::move(*predictor);
  return bundle;
}

}  // namespace perfcast::program
