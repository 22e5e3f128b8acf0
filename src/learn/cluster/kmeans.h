#pragma once
// k-means: Lloyd's iterations from centres that are spread as k-means++ does (Arthur and Vassilvitskii, SODA 2007).
// Rows are comparable: a difference of 1 matters as much in each column. Nothing is NaN, weights are above 0.

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "base/random.h"

namespace perfcast {

struct KMeans {
  Eigen::MatrixXd centres;                                  // clusters x columns
  std::vector<Eigen::Index> of;                             // of each row: its centre
  double within = std::numeric_limits<double>::infinity();  // weighted mean squared distance of rows to their centres
};

// A row, drawn with a chance by its weight; the last one of positive weight where rounding goes past the end.
Eigen::Index draw_weighted(const Eigen::VectorXd& weights, Random& random);

// Row `first`, then each further one with a chance by its weight and squared distance to the nearest centre so far.
// Fewer than `count` where there are fewer different rows.
Eigen::MatrixXd spread_centres(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights, Eigen::Index first,
                               Eigen::Index count, Random& random);

Eigen::Index nearest_centre(const Eigen::MatrixXd& centres, const Eigen::RowVectorXd& row);

// Until no row changes its centre, or `most_rounds`. A centre that no row is near stays where it was.
KMeans settle_centres(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights, Eigen::MatrixXd centres,
                      int most_rounds);

}  // namespace perfcast
