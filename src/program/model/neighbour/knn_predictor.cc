#include "program/model/neighbour/knn_predictor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/json.h"
#include "learn/tensors/tensor_map.h"
#include "program/model/attribution/group_shapley.h"

namespace perfcast::program {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr int64_t kNeighbourCounts[] = {1, 2, 3, 5, 8, 13, 21};

}  // namespace

// Weights fall with the distance relative to the farthest of the neighbours, so that the rule has no scale of its own.
Eigen::RowVectorXd KnnPredictor::blend(const Eigen::VectorXd& squared_distances, int64_t neighbours) const {
  std::vector<Eigen::Index> order(static_cast<size_t>(squared_distances.size()));
  std::iota(order.begin(), order.end(), 0);
  const auto count = std::min<std::ptrdiff_t>(neighbours, static_cast<std::ptrdiff_t>(order.size()));
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](Eigen::Index a, Eigen::Index b) {
    return squared_distances(a) != squared_distances(b) ? squared_distances(a) < squared_distances(b) : a < b;
  });
  const double radius = std::max(squared_distances(order[static_cast<size_t>(count - 1)]), 1e-12);
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(log_rpv_.cols());
  double total = 0;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const Eigen::Index row = order[static_cast<size_t>(i)];
    if (squared_distances(row) == kInfinite) break;
    const double weight = weights_(row) / (0.05 + squared_distances(row) / radius);
    sum += weight * log_rpv_.row(row);
    total += weight;
  }
  return sum / total;
}

int64_t KnnPredictor::choose_neighbours(const Targets& targets) const {
  const Eigen::Index programs = rows_.rows();
  int64_t best = std::min<int64_t>(5, programs);
  if (targets.families < 3) return best;
  double least = kInfinite;
  std::vector<int64_t> candidates;
  for (const int64_t candidate : kNeighbourCounts) {
    if (candidate < programs) candidates.push_back(candidate);
  }
  std::vector<Eigen::MatrixXd> predicted(candidates.size(), Eigen::MatrixXd(programs, log_rpv_.cols()));
  for (Eigen::Index p = 0; p < programs; ++p) {
    Eigen::VectorXd distances = (rows_.rowwise() - rows_.row(p)).rowwise().squaredNorm();
    for (Eigen::Index q = 0; q < programs; ++q) {
      if (targets.family[static_cast<size_t>(q)] == targets.family[static_cast<size_t>(p)]) distances(q) = kInfinite;
    }
    for (size_t c = 0; c < candidates.size(); ++c) predicted[c].row(p) = blend(distances, candidates[c]);
  }
  for (size_t c = 0; c < candidates.size(); ++c) {
    const double error = family_mean_error(predicted[c], targets);
    if (error < least) {
      least = error;
      best = candidates[c];
    }
  }
  return best;
}

Status KnnPredictor::fit(const TrainingTable& table, const FitOptions&) {
  const auto targets = make_targets(table);
  if (!targets) return targets.error();
  inputs_ = StandardisedInputs::fit(table, targets->weights);
  rows_ = inputs_.rows(profiles_of(table));
  log_rpv_ = targets->log_rpv;
  weights_ = targets->weights;
  neighbours_ = choose_neighbours(*targets);
  return {};
}

Eigen::MatrixXd KnnPredictor::predict(const std::vector<const Profile*>& profiles) const {
  return forecast(inputs_.rows(profiles));
}

Eigen::MatrixXd KnnPredictor::forecast(const Eigen::MatrixXd& queries) const {
  Eigen::MatrixXd result(queries.rows(), log_rpv_.cols());
  for (Eigen::Index q = 0; q < queries.rows(); ++q) {
    result.row(q) = blend((rows_.rowwise() - queries.row(q)).rowwise().squaredNorm(), neighbours_);
  }
  return result;
}

Result<FeatureAttribution> KnnPredictor::attribute_features(const AttributionRequest& request) const {
  const std::vector<std::string>& names = inputs_.chosen().names();
  Eigen::MatrixXd log = group_shapley([this](const Eigen::MatrixXd& rows) { return forecast(rows); },
                                      attributed_rows(inputs_, request), names, request);
  return attribution_of(*this, request, AttributionMethod::kGroups, names, std::move(log));
}

void KnnPredictor::save(TensorMap& tensors) const {
  inputs_.save(tensors);
  tensors.put("rows", rows_);
  tensors.put("log_rpv", log_rpv_);
  tensors.put("weights", weights_);
  tensors.put_json("neighbours", neighbours_);
}

Status KnnPredictor::load(const TensorMap& tensors) {
  if (auto status = inputs_.load(tensors); !status) return status;
  const int64_t columns = inputs_.columns();
  auto rows = tensors.get("rows", -1, columns);
  if (!rows) return rows.error();
  auto log_rpv = tensors.get("log_rpv", rows->rows());
  if (!log_rpv) return log_rpv.error();
  const auto weights = tensors.get("weights", rows->rows(), 1);
  if (!weights) return weights.error();
  const auto neighbours = tensors.get_json("neighbours");
  if (!neighbours) return neighbours.error();
  if (rows->rows() == 0 || !neighbours->is_number_integer() || neighbours->get<int64_t>() < 1) {
    return Error{"bad-bundle", "the nearest-neighbour model is empty", "neighbours", "at least one neighbour"};
  }
  rows_ = std::move(*rows);
  log_rpv_ = std::move(*log_rpv);
  weights_ = weights->col(0);
  neighbours_ = neighbours->get<int64_t>();
  return {};
}

}  // namespace perfcast::program
