#pragma once
// For tests: dense networks in double precision, written down plainly, as the reference that the fast ones in float are
// held to. Finite differences of a loss in double see a wrong sign or a missing term where float's rounding hides it.

#include <Eigen/Core>
#include <functional>
#include <vector>

#include "learn/neural/dense_network.h"

namespace perfcast::testing_network {

struct DoubleLayer {
  Eigen::MatrixXd weights;
  Eigen::VectorXd bias;
};
using DoubleNetwork = std::vector<DoubleLayer>;

inline DoubleNetwork in_double(const DenseNetwork& network) {
  DoubleNetwork result;
  for (const DenseLayer& layer : network.layers()) {
    result.push_back({layer.weights.cast<double>(), layer.bias.cast<double>()});
  }
  return result;
}

inline Eigen::MatrixXd run(const DoubleNetwork& network, Eigen::MatrixXd rows) {
  for (size_t i = 0; i < network.size(); ++i) {
    rows = ((rows * network[i].weights).rowwise() + network[i].bias.transpose()).eval();
    if (i + 1 < network.size()) rows = rows.cwiseMax(0.0);
  }
  return rows;
}

// The largest difference of a gradient from central differences, over the gradient's largest value.
inline double relative_error(double* values, const float* gradient, Eigen::Index n,
                             const std::function<double()>& loss) {
  constexpr double kStep = 1e-6;
  double error = 0;
  double largest = 1e-12;
  for (Eigen::Index i = 0; i < n; ++i) {
    const double before = values[i];
    values[i] = before + kStep;
    const double above = loss();
    values[i] = before - kStep;
    const double below = loss();
    values[i] = before;
    const double slope = (above - below) / (2 * kStep);
    error = std::max(error, std::abs(slope - static_cast<double>(gradient[i])));
    largest = std::max(largest, std::abs(slope));
  }
  return error / largest;
}

// Of every layer's weights and biases, the largest relative error.
inline double relative_error(DoubleNetwork& network, const std::vector<DenseLayer>& gradients,
                             const std::function<double()>& loss) {
  double error = 0;
  for (size_t i = 0; i < network.size(); ++i) {
    const Eigen::MatrixXf weights = gradients[i].weights;  // column-major, as the double ones
    error = std::max(error, relative_error(network[i].weights.data(), weights.data(), weights.size(), loss));
    error =
        std::max(error, relative_error(network[i].bias.data(), gradients[i].bias.data(), network[i].bias.size(), loss));
  }
  return error;
}

}  // namespace perfcast::testing_network
