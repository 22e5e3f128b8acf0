#include "program/map/clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace perfcast::program {
namespace {

constexpr double kNowhere = std::numeric_limits<double>::infinity();

Eigen::MatrixXd without_gaps(const Eigen::MatrixXd& distances) {
  double largest = 0;
  for (const double distance : distances.reshaped()) {
    if (distance > largest) largest = distance;
  }
  return distances.array().isNaN().select(largest, distances.array());
}

class Medoids {
 public:
  Medoids(const Eigen::MatrixXd& distances, const Eigen::VectorXd& weights)
      : distances_(distances), weights_(weights), nearest_(Eigen::VectorXd::Constant(distances.rows(), kNowhere)) {}

  void build(int64_t clusters) {
    while (static_cast<int64_t>(medoids_.size()) < clusters) {
      int64_t best = -1;
      double least = kNowhere;
      for (Eigen::Index p = 0; p < distances_.rows(); ++p) {
        if (is_medoid(p)) continue;
        const double cost = nearest_.cwiseMin(distances_.col(p)).dot(weights_);
        if (best < 0 || cost < least - 1e-12) {
          best = p;
          least = cost;
        }
      }
      medoids_.push_back(best);
      nearest_ = nearest_.cwiseMin(distances_.col(best));
    }
  }

  // Exchanges a medoid for another program as long as that helps: the best exchange each time.
  void swap() {
    for (double cost = nearest_.dot(weights_);;) {
      size_t leaves = 0;
      int64_t comes = -1;
      double least = cost;
      for (size_t m = 0; m < medoids_.size(); ++m) {
        const Eigen::VectorXd others = nearest_without(m);
        for (Eigen::Index p = 0; p < distances_.rows(); ++p) {
          if (is_medoid(p)) continue;
          const double changed = others.cwiseMin(distances_.col(p)).dot(weights_);
          if (changed >= least - 1e-9 * std::abs(least) - 1e-12) continue;
          least = changed;
          leaves = m;
          comes = p;
        }
      }
      if (comes < 0) return;
      medoids_[leaves] = comes;
      nearest_ = nearest_without(medoids_.size());
      cost = nearest_.dot(weights_);
    }
  }

  const std::vector<int64_t>& rows() const { return medoids_; }

 private:
  bool is_medoid(int64_t row) const { return std::find(medoids_.begin(), medoids_.end(), row) != medoids_.end(); }
  Eigen::VectorXd nearest_without(size_t left_out) const {
    // Large rather than infinite: with one medoid there is no other, and 0 x infinity is no number.
    Eigen::VectorXd nearest = Eigen::VectorXd::Constant(distances_.rows(), 1e9);
    for (size_t m = 0; m < medoids_.size(); ++m) {
      if (m != left_out) nearest = nearest.cwiseMin(distances_.col(medoids_[m]));
    }
    return nearest;
  }

  const Eigen::MatrixXd& distances_;
  const Eigen::VectorXd& weights_;
  Eigen::VectorXd nearest_;
  std::vector<int64_t> medoids_;
};

double silhouette_of(const Clustering& clustering, const Eigen::MatrixXd& distances, const Eigen::VectorXd& weights) {
  const auto clusters = static_cast<Eigen::Index>(clustering.medoids.size());
  if (clusters < 2) return 0;
  double sum = 0;
  for (Eigen::Index p = 0; p < distances.rows(); ++p) {
    Eigen::VectorXd total = Eigen::VectorXd::Zero(clusters), weight = Eigen::VectorXd::Zero(clusters);
    for (Eigen::Index q = 0; q < distances.rows(); ++q) {
      if (q == p) continue;
      const int64_t of = clustering.cluster[static_cast<size_t>(q)];
      total(of) += weights(q) * distances(p, q);
      weight(of) += weights(q);
    }
    const int64_t own = clustering.cluster[static_cast<size_t>(p)];
    if (!(weight(own) > 0)) continue;  // alone in its cluster: 0
    const double inside = total(own) / weight(own);
    double outside = kNowhere;
    for (Eigen::Index c = 0; c < clusters; ++c) {
      if (c != own && weight(c) > 0) outside = std::min(outside, total(c) / weight(c));
    }
    const double larger = std::max(inside, outside);
    if (larger > 0) sum += weights(p) * (outside - inside) / larger;
  }
  return sum / weights.sum();
}

}  // namespace

Clustering cluster_programs(const Eigen::MatrixXd& distances, const Eigen::VectorXd& weights, int64_t clusters) {
  const Eigen::MatrixXd known = without_gaps(distances);
  Medoids medoids(known, weights);
  medoids.build(std::min<int64_t>(clusters, known.rows()));
  medoids.swap();

  Clustering result;
  result.medoids = medoids.rows();
  const auto assign = [&] {
    result.cluster.assign(static_cast<size_t>(known.rows()), 0);
    for (Eigen::Index p = 0; p < known.rows(); ++p) {
      double least = kNowhere;
      for (size_t m = 0; m < result.medoids.size(); ++m) {
        const bool is_self = result.medoids[m] == p;  // also where another medoid is no further
        const double distance = is_self ? -1 : known(p, result.medoids[m]);
        if (distance >= least) continue;
        least = distance;
        result.cluster[static_cast<size_t>(p)] = static_cast<int64_t>(m);
      }
    }
  };
  assign();
  std::vector<double> size(result.medoids.size(), 0);
  for (Eigen::Index p = 0; p < known.rows(); ++p) {
    size[static_cast<size_t>(result.cluster[static_cast<size_t>(p)])] += weights(p);
  }
  std::vector<size_t> order(size.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return size[a] > size[b] + 1e-9; });
  std::vector<int64_t> sorted;
  sorted.reserve(order.size());
  for (const size_t m : order) sorted.push_back(result.medoids[m]);
  result.medoids = std::move(sorted);
  assign();
  result.silhouette = silhouette_of(result, known, weights);
  return result;
}

Clustering cluster_programs(const Eigen::MatrixXd& distances, const Eigen::VectorXd& weights) {
  if (distances.rows() < 3) return cluster_programs(distances, weights, 1);
  Clustering best;
  for (int64_t clusters = 2; clusters <= std::min<int64_t>(kMostClusters, distances.rows() - 1); ++clusters) {
    Clustering found = cluster_programs(distances, weights, clusters);
    if (best.medoids.empty() || found.silhouette > best.silhouette + 1e-9) best = std::move(found);
  }
  return best;
}

}  // namespace perfcast::program
