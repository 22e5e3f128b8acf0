#include "program/map/embedding.h"

#include <algorithm>
#include <cmath>

#include "learn/algebra/dense.h"

namespace perfcast::program {
namespace {

constexpr double kExaggeration = 12;
constexpr int kExaggerated = 250;  // iterations

// [P x P] how surely p picks q as its neighbour, each row's entropy being that of the perplexity, then symmetric: all
// of it adds up to 1.
Eigen::MatrixXd neighbour_probabilities(const Eigen::MatrixXd& squared, double perplexity) {
  const Eigen::Index points = squared.rows();
  const double wanted = std::log(perplexity);
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(points, points);
  for (Eigen::Index p = 0; p < points; ++p) {
    double least = 0, most = -1, precision = 1;  // most < 0: not known
    Eigen::RowVectorXd row;
    for (int round = 0; round < 100; ++round) {
      // Shifted by the nearest, so that not all are 0.
      double nearest = -1;
      for (Eigen::Index q = 0; q < points; ++q) {
        if (q != p && (nearest < 0 || squared(p, q) < nearest)) nearest = squared(p, q);
      }
      row = (-precision * (squared.row(p).array() - nearest)).exp();
      row(p) = 0;
      const double sum = row.sum();
      const double entropy = std::log(sum) + precision * (row.array() * (squared.row(p).array() - nearest)).sum() / sum;
      row /= sum;
      if (std::abs(entropy - wanted) < 1e-5) break;
      if (entropy > wanted) {
        least = precision;
        precision = most < 0 ? precision * 2 : (precision + most) / 2;
      } else {
        most = precision;
        precision = (precision + least) / 2;
      }
    }
    result.row(p) = row;
  }
  const Eigen::MatrixXd both = result + result.transpose();
  return (both / (2.0 * static_cast<double>(points))).cwiseMax(1e-12);
}

// Of the Kullback-Leibler divergence, equation 5 of the paper.
Eigen::MatrixXd gradient_at(const Eigen::MatrixXd& points, const Eigen::MatrixXd& probabilities) {
  const Eigen::VectorXd norms = points.rowwise().squaredNorm();
  Eigen::MatrixXd closeness = -2 * points * points.transpose();
  closeness.colwise() += norms;
  closeness.rowwise() += norms.transpose();
  closeness = (1 + closeness.array().max(0)).inverse();
  closeness.diagonal().setZero();
  const double sum = closeness.sum();
  const Eigen::MatrixXd pull = (probabilities - closeness / sum).cwiseProduct(closeness);
  const Eigen::VectorXd total = pull.rowwise().sum();
  return 4 * (total.asDiagonal() * points - pull * points);
}

}  // namespace

Eigen::MatrixXd PrincipalPlane::project(const Eigen::MatrixXd& rows) const {
  Eigen::MatrixXd centred = rows.rowwise() - centre;
  centred = centred.array().isNaN().select(0, centred.array());
  return centred * axes;
}

PrincipalPlane principal_plane(const Eigen::MatrixXd& rows, const Eigen::VectorXd& weights) {
  PrincipalPlane plane;
  const Eigen::Index columns = rows.cols();
  plane.centre = Eigen::RowVectorXd::Zero(columns);
  for (Eigen::Index c = 0; c < columns; ++c) {
    double total = 0, sum = 0;
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
      if (std::isnan(rows(r, c))) continue;
      total += weights(r);
      sum += weights(r) * rows(r, c);
    }
    if (total > 0) plane.centre(c) = sum / total;
  }
  Eigen::MatrixXd centred = rows.rowwise() - plane.centre;
  centred = centred.array().isNaN().select(0, centred.array());
  const Eigen::MatrixXd covariance = centred.transpose() * (weights / weights.sum()).asDiagonal() * centred;
  plane.axes = Eigen::MatrixXd::Zero(columns, 2);
  if (columns == 0) return plane;
  const SymmetricEigen found = symmetric_eigen(covariance);
  const double variance = found.values.sum();
  for (Eigen::Index k = 0; k < std::min<Eigen::Index>(2, columns); ++k) {
    const Eigen::Index last = columns - 1 - k;
    Eigen::VectorXd axis = found.vectors.col(last);
    Eigen::Index largest = 0;
    axis.cwiseAbs().maxCoeff(&largest);
    if (axis(largest) < 0) axis = -axis;
    plane.axes.col(k) = axis;
    if (variance > 0) plane.shares_ratio[k] = std::max(found.values(last), 0.0) / variance;
  }
  return plane;
}

Eigen::MatrixXd tsne(const Eigen::MatrixXd& distances, const Eigen::MatrixXd& start, const TsneOptions& options) {
  const Eigen::Index points = distances.rows();
  if (points < 4) return start;
  const double others = static_cast<double>(points - 1);
  const double perplexity = std::clamp(options.perplexity, 1.01, std::max(1.01, others / 3));
  const Eigen::MatrixXd probabilities = neighbour_probabilities(distances.cwiseProduct(distances), perplexity);
  const double step = std::max(static_cast<double>(points) / kExaggeration, 50.0);

  Eigen::MatrixXd at = start.rowwise() - start.colwise().mean();
  const double size = std::sqrt(at.col(0).squaredNorm() / static_cast<double>(points));
  if (size > 0) at *= 1e-2 / size;
  Eigen::MatrixXd moved = Eigen::MatrixXd::Zero(points, 2), gains = Eigen::MatrixXd::Ones(points, 2);
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    const bool early = iteration < kExaggerated;
    const Eigen::MatrixXd gradient = gradient_at(at, early ? probabilities * kExaggeration : probabilities);
    const auto turned = (gradient.array() * moved.array()) < 0;
    gains = turned.select(gains.array() + 0.2, gains.array() * 0.8).max(0.01);
    moved = (early ? 0.5 : 0.8) * moved - step * gains.cwiseProduct(gradient);
    at += moved;
    const Eigen::RowVectorXd middle = at.colwise().mean();
    at.rowwise() -= middle;
  }
  return at;
}

}  // namespace perfcast::program
