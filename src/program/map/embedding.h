#pragma once
// Points of many dimensions on paper.

#include <Eigen/Core>
#include <cstdint>

namespace perfcast::program {

// Principal components: the plane in which the points vary most.
struct PrincipalPlane {
  Eigen::RowVectorXd centre;        // [F]
  Eigen::MatrixXd axes;             // [F x 2], orthonormal; the largest entry of each is positive
  double shares_ratio[2] = {0, 0};  // of the variance along each
  Eigen::MatrixXd project(const Eigen::MatrixXd& rows) const;  // [rows x 2]; absent (NaN) counts as the centre
};
// rows: [P x F], absent is NaN; weights: [P]. Fewer than two dimensions: the rest of the plane is 0.
PrincipalPlane principal_plane(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights);

struct TsneOptions {
  double perplexity = 15;  // neighbours that count; at most a third of the others
  int iterations = 750;
};
inline constexpr int64_t kMostTsnePoints = 1000;

// t-SNE, exact (van der Maaten and Hinton 2008, JMLR 9; momentum, gains and early exaggeration as there, the step by
// Belkina et al. 2019), [P x 2]: near points stay near, what is far apart says little. distances: [P x P], no NaN.
// Begins at `start` [P x 2], drawn small, so that nothing is random. At most kMostTsnePoints: its time is quadratic.
Eigen::MatrixXd tsne(const Eigen::MatrixXd& distances, const Eigen::MatrixXd& start, const TsneOptions& options = {});

}  // namespace perfcast::program
