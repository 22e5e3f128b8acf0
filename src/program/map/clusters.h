#pragma once
// Programs in groups of the like, each with a program that stands for it.

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace perfcast::program {

struct Clustering {
  std::vector<int64_t> medoids;  // rows, in the order of `cluster`'s numbers: largest weight first
  std::vector<int64_t> cluster;  // [P] index into medoids
  double silhouette = 0;         // weighted mean: 1 far apart, 0 touching (Rousseeuw 1987); 0 with one cluster
};

// k-medoids: partitioning around medoids, build and swap (Kaufman and Rousseeuw 1990, chapter 2). distances: [P x P],
// NaN counts as the largest; weights: [P]. 1 <= clusters <= P.
Clustering cluster_programs(const Eigen::MatrixXd& distances, const Eigen::VectorXd& weights, int64_t clusters);

// As many, from 2 to `most`, as give the largest silhouette; one cluster below three programs.
Clustering cluster_programs(const Eigen::MatrixXd& distances, const Eigen::VectorXd& weights);
inline constexpr int64_t kMostClusters = 12;

}  // namespace perfcast::program
