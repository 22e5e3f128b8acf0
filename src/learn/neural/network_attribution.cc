#include "learn/neural/network_attribution.h"

#include <cmath>
#include <utility>

namespace perfcast {
namespace {

constexpr int kMostLinePieces = 16;
constexpr double kNoChange = 1e-12;  // of what reaches a rectifier, in relation to its size

// What reaches each hidden layer's rectifiers, then the output.
std::vector<Eigen::RowVectorXd> sums_of(const PlainNetwork& network, Eigen::RowVectorXd row) {
  std::vector<Eigen::RowVectorXd> sums;
  sums.reserve(network.size());
  for (const PlainLayer& layer : network) {
    sums.emplace_back(row * layer.weights + layer.bias);
    row = sums.back().cwiseMax(0);
  }
  return sums;
}

}  // namespace

PlainNetwork plain_network(const PackedNetwork& network) {
  PlainNetwork plain;
  plain.reserve(network.layers().size());
  for (const PackedNetwork::Layer& packed : network.layers()) {
    PlainLayer layer;
    layer.weights.resize(packed.weights.inputs, packed.weights.outputs);
    for (Eigen::Index o = 0; o < layer.weights.cols(); ++o) {
      for (Eigen::Index i = 0; i < layer.weights.rows(); ++i) {
        layer.weights(i, o) = static_cast<double>(packed.weights.weight(i, o));
      }
    }
    layer.bias = Eigen::Map<const Eigen::RowVectorXf>(packed.bias.data(), static_cast<Eigen::Index>(packed.bias.size()))
                     .cast<double>();
    plain.push_back(std::move(layer));
  }
  return plain;
}

Eigen::RowVectorXd value_of(const PlainNetwork& network, const Eigen::RowVectorXd& row) {
  return sums_of(network, row).back();
}

Eigen::MatrixXd mean_slopes(const PlainNetwork& network, const Eigen::RowVectorXd& from, const Eigen::RowVectorXd& to) {
  const std::vector<Eigen::RowVectorXd> before = sums_of(network, from), after = sums_of(network, to);
  std::vector<Eigen::VectorXd> open;  // of each hidden layer's rectifiers
  open.reserve(network.size());
  for (size_t i = 0; i + 1 < network.size(); ++i) {
    open.emplace_back(before[i].size());
    for (Eigen::Index unit = 0; unit < before[i].size(); ++unit) {
      const double a = before[i](unit), b = after[i](unit), change = b - a;
      const bool moves = std::abs(change) > kNoChange * (std::abs(a) + std::abs(b));
      open.back()(unit) = moves ? (std::max(b, 0.0) - std::max(a, 0.0)) / change : b > 0 ? 1 : 0;
    }
  }
  // From the end where there are fewer rows or columns to carry through the layers.
  const Eigen::MatrixXd &first = network.front().weights, &last = network.back().weights;
  if (last.cols() < first.rows()) {
    Eigen::MatrixXd slopes = last;
    for (size_t i = open.size(); i-- > 0;) slopes = (network[i].weights * (open[i].asDiagonal() * slopes)).eval();
    return slopes;
  }
  Eigen::MatrixXd slopes = first;
  for (size_t i = 0; i < open.size(); ++i) slopes = ((slopes * open[i].asDiagonal()) * network[i + 1].weights).eval();
  return slopes;
}

Eigen::MatrixXd integrated_slopes(const MeanSlopes& slopes, const Eigen::RowVectorXd& own,
                                  const Eigen::RowVectorXd& reference, double settled) {
  const Eigen::RowVectorXd change = own - reference;
  Eigen::MatrixXd result;
  for (int pieces = 1; pieces <= kMostLinePieces; pieces *= 2) {
    Eigen::MatrixXd sum;
    for (int piece = 0; piece < pieces; ++piece) {
      const double start = static_cast<double>(piece) / pieces, end = static_cast<double>(piece + 1) / pieces;
      const Eigen::MatrixXd of_piece = slopes(reference + start * change, reference + end * change);
      sum = piece == 0 ? of_piece : Eigen::MatrixXd(sum + of_piece);
    }
    const Eigen::MatrixXd finer = (change / pieces).transpose().asDiagonal() * sum;
    const bool is_settled = pieces > 1 && (finer.size() == 0 || (finer - result).cwiseAbs().maxCoeff() <= settled);
    result = finer;
    if (is_settled) break;
  }
  return result;
}

}  // namespace perfcast
