#include "program/model/neighbour/cluster_predictor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "learn/algebra/dense.h"
#include "learn/cluster/kmeans.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/attribution/group_shapley.h"
#include "program/model/fit/targets.h"

namespace perfcast::program {
namespace {

constexpr int64_t kClusterCounts[] = {1, 2, 3, 4, 6, 8, 12};
constexpr int64_t kClusterFolds = 5;
constexpr int kMostRounds = 100;
constexpr double kRidge = 3;  // per feature: clusters are small, features many

}  // namespace

ClusterPredictor::Model ClusterPredictor::fit_clusters(const Eigen::MatrixXd& rows, const Eigen::MatrixXd& log_rpv,
                                                       const Eigen::VectorXd& weights, int64_t most_clusters,
                                                       uint64_t seed) {
  Random random(seed);
  const auto first = static_cast<Eigen::Index>(random.below(static_cast<uint64_t>(rows.rows())));
  KMeans found = settle_centres(rows, weights,
                                spread_centres(rows, Eigen::VectorXd::Ones(rows.rows()), first, most_clusters, random),
                                kMostRounds);
  const Eigen::Index clusters = found.centres.rows();
  Model model;
  model.centres = std::move(found.centres);

  std::vector<std::vector<Eigen::Index>> members_of(static_cast<size_t>(clusters));
  for (Eigen::Index p = 0; p < rows.rows(); ++p) {
    members_of[static_cast<size_t>(found.of[static_cast<size_t>(p)])].push_back(p);
  }
  const Eigen::Index features = rows.cols();
  model.means = weighted_mean(log_rpv, weights).transpose().replicate(clusters, 1);
  model.first = Eigen::VectorXd::Zero(clusters + 1);
  for (int64_t c = 0; c < clusters; ++c) {
    const auto members = static_cast<Eigen::Index>(members_of[static_cast<size_t>(c)].size());
    model.first(c + 1) = model.first(c) + static_cast<double>(std::min(members, features));
  }
  const auto directions = static_cast<Eigen::Index>(model.first(clusters));
  model.directions.resize(directions, features);
  model.loadings.resize(directions, log_rpv.cols());
  for (int64_t c = 0; c < clusters; ++c) {
    const std::vector<Eigen::Index>& members = members_of[static_cast<size_t>(c)];
    if (members.empty()) continue;
    const Eigen::VectorXd own = weights(members);
    const Eigen::MatrixXd inside = rows(members, Eigen::all).rowwise() - model.centres.row(c);
    model.means.row(c) = weighted_mean(log_rpv(members, Eigen::all), own).transpose();
    const Eigen::MatrixXd rest = log_rpv(members, Eigen::all).rowwise() - model.means.row(c);
    const auto from = static_cast<Eigen::Index>(model.first(c));
    const Eigen::Index count = std::min(inside.rows(), features);
    if (inside.rows() <= features) {
      Eigen::MatrixXd kernel = inside * inside.transpose();
      kernel.diagonal() += kRidge * own.cwiseInverse();
      model.directions.middleRows(from, count) = inside;
      model.loadings.middleRows(from, count) = solve_positive_definite(kernel, rest);
    } else {
      Eigen::MatrixXd gram = inside.transpose() * own.asDiagonal() * inside;
      gram.diagonal().array() += kRidge;
      model.directions.middleRows(from, count).setIdentity();
      const Eigen::MatrixXd moment = inside.transpose() * own.asDiagonal() * rest;
      model.loadings.middleRows(from, count) = solve_positive_definite(gram, moment);
    }
  }
  return model;
}

Eigen::MatrixXd ClusterPredictor::forecast(const Model& model, const Eigen::MatrixXd& rows) {
  Eigen::MatrixXd result(rows.rows(), model.means.cols());
  for (Eigen::Index r = 0; r < rows.rows(); ++r) {
    const Eigen::Index cluster = nearest_centre(model.centres, rows.row(r));
    const auto from = static_cast<Eigen::Index>(model.first(cluster));
    const Eigen::Index count = static_cast<Eigen::Index>(model.first(cluster + 1)) - from;
    const Eigen::RowVectorXd along =
        (rows.row(r) - model.centres.row(cluster)) * model.directions.middleRows(from, count).transpose();
    result.row(r) = model.means.row(cluster) + along * model.loadings.middleRows(from, count);
  }
  result.colwise() -= result.rowwise().mean().eval();
  return result;
}

Status ClusterPredictor::fit(const TrainingTable& table, const FitOptions& options) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  inputs_ = StandardisedInputs::fit(table, targets->weights);
  const Eigen::MatrixXd rows = inputs_.rows(profiles_of(table));

  int64_t chosen = 1;
  const int64_t folds = std::min(kClusterFolds, targets->families);
  double least = std::numeric_limits<double>::infinity();
  for (const int64_t candidate : kClusterCounts) {
    if (folds < 2 || candidate * 2 > rows.rows()) break;
    Eigen::MatrixXd predicted = targets->log_rpv;
    bool enough = true;
    for (int64_t fold = 0; fold < folds && enough; ++fold) {
      std::vector<Eigen::Index> train, test;
      for (size_t p = 0; p < targets->family.size(); ++p) {
        (targets->family[p] % folds == fold ? test : train).push_back(static_cast<Eigen::Index>(p));
      }
      enough = static_cast<int64_t>(train.size()) >= candidate;
      if (!enough) break;
      const Model model = fit_clusters(rows(train, Eigen::all), targets->log_rpv(train, Eigen::all),
                                       targets->weights(train), candidate, options.seed);
      predicted(test, Eigen::all) = forecast(model, rows(test, Eigen::all));
    }
    const double error = enough ? family_mean_error(predicted, *targets) : least;
    if (error >= least) continue;
    least = error;
    chosen = candidate;
  }
  model_ = fit_clusters(rows, targets->log_rpv, targets->weights, chosen, options.seed);
  return {};
}

Eigen::MatrixXd ClusterPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return forecast(model_, inputs_.rows(profiles));
}

// Another cluster is another linear model: there is no sum to take apart.
Result<FeatureAttribution> ClusterPredictor::attribute_features(const AttributionRequest& request) const {
  const std::vector<std::string>& names = inputs_.chosen().names();
  Eigen::MatrixXd log = group_shapley([this](const Eigen::MatrixXd& rows) { return forecast(model_, rows); },
                                      attributed_rows(inputs_, request), names, request);
  return attribution_of(*this, request, AttributionMethod::kGroups, names, std::move(log));
}

void ClusterPredictor::save(TensorMap& tensors) const {
  inputs_.save(tensors);
  tensors.put("centres", model_.centres);
  tensors.put("means", model_.means);
  tensors.put("directions", model_.directions);
  tensors.put("loadings", model_.loadings);
  tensors.put("first", model_.first);
}

Status ClusterPredictor::load(const TensorMap& tensors) {
  if (Status status = inputs_.load(tensors); !status) return status;
  auto centres = tensors.get("centres", -1, inputs_.columns());
  if (!centres) return centres.error();
  auto means = tensors.get("means", centres->rows());
  if (!means) return means.error();
  auto directions = tensors.get("directions", -1, inputs_.columns());
  if (!directions) return directions.error();
  auto loadings = tensors.get("loadings", directions->rows(), means->cols());
  if (!loadings) return loadings.error();
  const auto first = tensors.get("first", centres->rows() + 1, 1);
  if (!first) return first.error();
  if (centres->rows() == 0) return Error{"bad-bundle", "there is no cluster", "centres", "at least one"};
  const Eigen::VectorXd bounds = first->col(0);
  bool fits = bounds(0) == 0 && bounds(bounds.size() - 1) == static_cast<double>(directions->rows());
  for (Eigen::Index c = 1; c < bounds.size(); ++c) {
    fits = fits && bounds(c) >= bounds(c - 1) && bounds(c) == std::floor(bounds(c));
  }
  if (!fits) return Error{"bad-bundle", "the clusters' rows don't fit", "first", "whole numbers that rise from 0"};
  model_ = {std::move(*centres), std::move(*means), std::move(*directions), std::move(*loadings), bounds};
  return {};
}

}  // namespace perfcast::program
