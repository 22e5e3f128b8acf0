#include "learn/cluster/kmeans.h"

#include <utility>

namespace perfcast {

Eigen::Index draw_weighted(const Eigen::VectorXd& weights, Random& random) {
  double left = random.uniform() * weights.sum();
  Eigen::Index chosen = 0;
  for (Eigen::Index i = 0; i < weights.size(); ++i) {
    if (weights(i) <= 0) continue;
    chosen = i;
    left -= weights(i);
    if (left < 0) break;
  }
  return chosen;
}

Eigen::MatrixXd spread_centres(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights, Eigen::Index first,
                               Eigen::Index count, Random& random) {
  Eigen::MatrixXd centres(count, rows.cols());
  Eigen::VectorXd nearest = Eigen::VectorXd::Constant(rows.rows(), std::numeric_limits<double>::infinity());
  Eigen::Index next = first;
  for (Eigen::Index k = 0; k < count; ++k) {
    if (k > 0) {
      const Eigen::VectorXd chance = weights.cwiseProduct(nearest);
      if (chance.sum() <= 0) return centres.topRows(k);
      next = draw_weighted(chance, random);
    }
    centres.row(k) = rows.row(next);
    nearest = nearest.cwiseMin((rows.rowwise() - centres.row(k)).rowwise().squaredNorm());
  }
  return centres;
}

Eigen::Index nearest_centre(const Eigen::MatrixXd& centres, const Eigen::RowVectorXd& row) {
  Eigen::Index best = 0;
  (centres.rowwise() - row).rowwise().squaredNorm().minCoeff(&best);
  return best;
}

KMeans settle_centres(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights, Eigen::MatrixXd centres,
                      int most_rounds) {
  KMeans result;
  result.of.assign(static_cast<size_t>(rows.rows()), -1);
  for (int round = 0; round < most_rounds; ++round) {
    bool moved = false;
    double within = 0;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      Eigen::Index best = 0;
      within += weights(i) * (centres.rowwise() - rows.row(i)).rowwise().squaredNorm().minCoeff(&best);
      Eigen::Index& of = result.of[static_cast<size_t>(i)];
      moved = moved || of != best;
      of = best;
    }
    result.within = within / weights.sum();
    if (!moved) break;
    Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(centres.rows(), centres.cols());
    Eigen::VectorXd masses = Eigen::VectorXd::Zero(centres.rows());
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      sums.row(result.of[static_cast<size_t>(i)]) += weights(i) * rows.row(i);
      masses(result.of[static_cast<size_t>(i)]) += weights(i);
    }
    for (Eigen::Index k = 0; k < centres.rows(); ++k) {
      if (masses(k) > 0) centres.row(k) = sums.row(k) / masses(k);
    }
  }
  result.centres = std::move(centres);
  return result;
}

}  // namespace perfcast
