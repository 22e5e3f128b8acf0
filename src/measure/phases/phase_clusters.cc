#include "measure/phases/phase_clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "learn/cluster/kmeans.h"

namespace perfcast::measure {
namespace {

constexpr int kStarts = 8, kMostRounds = 100;
constexpr double kOfTheWay = 0.9;

PhaseClusters in_order(const Eigen::MatrixXd& rows, const KMeans& found) {
  PhaseClusters result;
  result.within = found.within;
  std::vector<Eigen::Index> order;
  std::vector<size_t> number(static_cast<size_t>(found.centres.rows()), SIZE_MAX);
  result.cluster.reserve(found.of.size());
  for (const Eigen::Index of : found.of) {
    size_t& mine = number[static_cast<size_t>(of)];
    if (mine == SIZE_MAX) {
      mine = order.size();
      order.push_back(of);
    }
    result.cluster.push_back(mine);
  }
  result.centres.resize(static_cast<Eigen::Index>(order.size()), rows.cols());
  std::vector<double> nearest(order.size(), std::numeric_limits<double>::infinity());
  result.representatives.assign(order.size(), 0);
  for (size_t k = 0; k < order.size(); ++k)
    result.centres.row(static_cast<Eigen::Index>(k)) = found.centres.row(order[k]);
  for (size_t i = 0; i < result.cluster.size(); ++i) {
    const size_t k = result.cluster[i];
    const double distance =
        (rows.row(static_cast<Eigen::Index>(i)) - result.centres.row(static_cast<Eigen::Index>(k))).squaredNorm();
    if (distance >= nearest[k]) continue;
    nearest[k] = distance;
    result.representatives[k] = i;
  }
  return result;
}

// Of spherical normal distributions with one variance, at least noise^2 (Pelleg and Moore 2000, section 3.1). Weights
// make rows count by their share of the program.
double criterion(const PhaseClusters& found, const Eigen::VectorXd& weights, Eigen::Index columns, double noise) {
  const auto rows = static_cast<double>(weights.size()), width = static_cast<double>(columns);
  const auto count = static_cast<double>(found.count());
  const double left = std::max(1.0, rows - count);
  const double variance = std::max(noise * noise, found.within * rows / (width * left));
  std::vector<double> mass(found.count(), 0);
  for (size_t i = 0; i < found.cluster.size(); ++i) mass[found.cluster[i]] += weights(static_cast<Eigen::Index>(i));
  double likelihood = 0;
  for (const double each : mass) {
    const double share = each / weights.sum();
    likelihood += rows * share * std::log(share);
  }
  likelihood -= rows * width / 2 * std::log(2 * M_PI * variance) + found.within * rows / (2 * variance);
  const double parameters = count - 1 + width * count + 1;
  return likelihood - parameters / 2 * std::log(rows);
}

}  // namespace

PhaseClusters cluster_phases(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights, size_t count, uint64_t seed) {
  if (rows.rows() == 0) return {};
  Random random(seed);
  const auto wanted = std::min(static_cast<Eigen::Index>(std::max<size_t>(1, count)), rows.rows());
  KMeans best;
  for (int start = 0; start < kStarts; ++start) {
    const Eigen::Index first = draw_weighted(weights, random);
    KMeans found = settle_centres(rows, weights, spread_centres(rows, weights, first, wanted, random), kMostRounds);
    if (found.within < best.within || start == 0) best = std::move(found);
  }
  return in_order(rows, best);
}

PhaseClusters choose_phases(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights, size_t most, double noise,
                            uint64_t seed) {
  std::vector<PhaseClusters> tried;
  std::vector<double> scores;
  const size_t limit = std::min(most, static_cast<size_t>(rows.rows()));
  tried.reserve(limit);
  scores.reserve(limit);
  for (size_t count = 1; count <= limit; ++count) {
    tried.push_back(cluster_phases(rows, weights, count, seed));
    scores.push_back(criterion(tried.back(), weights, rows.cols(), noise));
  }
  if (tried.empty()) return {};
  const auto [low, high] = std::minmax_element(scores.begin(), scores.end());
  // Where one group is best, none is worth more.
  if (high == scores.begin()) return tried.front();
  const double enough = *low + kOfTheWay * (*high - *low);
  for (size_t i = 0; i < tried.size(); ++i) {
    if (scores[i] >= enough) return tried[i];
  }
  return tried.back();
}

}  // namespace perfcast::measure
