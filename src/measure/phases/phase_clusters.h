#pragma once
// Intervals of a program in groups of the like: k-means on standardised rates, its seeds spread as k-means++ does
// (Arthur and Vassilvitskii, SODA 2007), the number of groups by the Bayesian information criterion as SimPoint uses it
// (Sherwood, Perelman, Hamerly and Calder, ASPLOS 2002; the criterion: Pelleg and Moore, ICML 2000).

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace perfcast::measure {

inline constexpr size_t kMostPhaseKinds = 16;
// As many as are told apart in a picture, where nobody asks for a number.
inline constexpr size_t kMostChosenKinds = 8;

struct PhaseClusters {
  std::vector<size_t> cluster;          // of each row, in the order in which they come first
  std::vector<size_t> representatives;  // of each cluster: the row nearest to its centre
  Eigen::MatrixXd centres;              // clusters x columns
  double within = 0;                    // weighted mean squared distance of rows to their centres
  size_t count() const { return representatives.size(); }
};

// rows: intervals x rates, comparable (a difference of 1 matters as much in each column); weights > 0. Fewer clusters
// than asked for where there are fewer different rows. Deterministic by the seed.
PhaseClusters cluster_phases(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights, size_t count, uint64_t seed);

// The smallest number, up to `most`, whose criterion is at least 0.9 of the way from the worst to the best. Differences
// below `noise` (a standard deviation of each column) count as none: a steady program has one phase.
PhaseClusters choose_phases(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights, size_t most, double noise,
                            uint64_t seed);

}  // namespace perfcast::measure
