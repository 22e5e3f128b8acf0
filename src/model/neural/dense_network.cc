#include "model/neural/dense_network.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace perfcast {

DenseNetwork::DenseNetwork(const std::vector<int64_t>& sizes, uint64_t seed) {
  Random random(seed);
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    DenseLayer layer;
    layer.weights.resize(sizes[i], sizes[i + 1]);
    const bool last = i + 2 == sizes.size();
    // A small last layer starts the network near its target's mean, 0.
    const double deviation = std::sqrt((last ? 0.1 : 2.0) / static_cast<double>(sizes[i]));
    for (Eigen::Index w = 0; w < layer.weights.size(); ++w) {
      layer.weights.data()[w] = static_cast<float>(deviation * random.normal());
    }
    layer.bias = Eigen::VectorXf::Zero(sizes[i + 1]);
    layers_.push_back(std::move(layer));
  }
}

// activations[i]: what layer i reads; the last: the network's output.
Status DenseNetwork::run(const RowMatrixF& inputs, std::vector<RowMatrixF>& activations) const {
  activations.assign(1, inputs);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const DenseLayer& layer = layers_[i];
    const RowMatrixF& in = activations.back();
    RowMatrixF out(in.rows(), layer.weights.cols());
    const Product product{.m = in.rows(), .n = out.cols(), .k = in.cols()};
    if (auto status = multiply(product, in.data(), layer.weights.data(), out.data()); !status) return status;
    out.rowwise() += layer.bias.transpose();
    if (i + 1 < layers_.size()) out = out.cwiseMax(0.0f);
    activations.push_back(std::move(out));
  }
  return {};
}

Result<RowMatrixF> DenseNetwork::forward(const RowMatrixF& inputs) const {
  std::vector<RowMatrixF> activations;
  if (auto status = run(inputs, activations); !status) return status.error();
  return std::move(activations.back());
}

Result<double> DenseNetwork::gradient(const TrainingBatch& batch, std::vector<DenseLayer>& gradients) const {
  std::vector<RowMatrixF> activations;
  if (auto status = run(batch.inputs, activations); !status) return status.error();
  const float total = std::max(batch.weights.sum(), 1e-12f);
  const RowMatrixF error = activations.back() - batch.targets;
  RowMatrixF backward = error.cwiseProduct(batch.weights) / total;
  const double loss = 0.5 * static_cast<double>(error.cwiseProduct(backward).sum());
  gradients.resize(layers_.size());
  for (size_t i = layers_.size(); i-- > 0;) {
    const RowMatrixF& in = activations[i];
    DenseLayer& out = gradients[i];
    out.weights.resize(in.cols(), backward.cols());
    const Product by_weight{.transpose_a = true, .m = in.cols(), .n = backward.cols(), .k = in.rows()};
    if (auto status = multiply(by_weight, in.data(), backward.data(), out.weights.data()); !status) {
      return status.error();
    }
    out.bias = backward.colwise().sum();
    if (i == 0) break;
    RowMatrixF before(in.rows(), in.cols());
    const Product by_input{.transpose_b = true, .m = in.rows(), .n = in.cols(), .k = backward.cols()};
    if (auto status = multiply(by_input, backward.data(), layers_[i].weights.data(), before.data()); !status) {
      return status.error();
    }
    backward = (in.array() > 0).select(before, 0.0f);
  }
  return loss;
}

void Adam::step(DenseNetwork& network, const std::vector<DenseLayer>& gradients) {
  std::vector<DenseLayer>& layers = network.layers();
  if (first_.empty()) {
    for (const DenseLayer& layer : layers) {
      first_.push_back(
          {RowMatrixF::Zero(layer.weights.rows(), layer.weights.cols()), Eigen::VectorXf::Zero(layer.bias.size())});
    }
    second_ = first_;
  }
  ++steps_;
  const float first_scale = 1 / (1 - std::pow(options_.first_decay, static_cast<float>(steps_)));
  const float second_scale = 1 / (1 - std::pow(options_.second_decay, static_cast<float>(steps_)));
  const auto update = [&](auto& values, const auto& gradient, auto& first, auto& second, float decay) {
    first = options_.first_decay * first + (1 - options_.first_decay) * gradient;
    second = options_.second_decay * second + (1 - options_.second_decay) * gradient.cwiseAbs2();
    values.array() -= options_.learning_rate *
                      (first_scale * first.array() / ((second_scale * second.array()).sqrt() + options_.epsilon) +
                       decay * values.array());
  };
  for (size_t i = 0; i < layers.size(); ++i) {
    update(layers[i].weights, gradients[i].weights, first_[i].weights, second_[i].weights, options_.weight_decay);
    update(layers[i].bias, gradients[i].bias, first_[i].bias, second_[i].bias, 0.0f);
  }
}

PackedNetwork::PackedNetwork(const DenseNetwork& network) {
  for (const DenseLayer& layer : network.layers()) {
    const std::span<const float> weights(layer.weights.data(), static_cast<size_t>(layer.weights.size()));
    layers_.push_back({pack(weights, layer.weights.rows(), layer.weights.cols()),
                       std::vector<float>(layer.bias.data(), layer.bias.data() + layer.bias.size())});
  }
}

void PackedNetwork::predict(std::span<const float> row, std::span<float> output) const {
  thread_local std::vector<float> from;
  thread_local std::vector<float> to;
  from.assign(row.begin(), row.end());
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    to.assign(layer.bias.begin(), layer.bias.end());
    to.resize(static_cast<size_t>(4 * layer.weights.quarter()), 0.0f);
    add_row_product(from, layer.weights, to);
    to.resize(layer.bias.size());
    if (i + 1 < layers_.size()) {
      for (float& value : to) value = std::max(value, 0.0f);
    }
    std::swap(from, to);
  }
  std::copy(from.begin(), from.end(), output.begin());
}

Status PackedNetwork::append(Layer layer) {
  const PackedWeights& weights = layer.weights;
  const bool fits = weights.inputs > 0 && weights.outputs > 0 &&
                    weights.scales.size() == static_cast<size_t>(weights.inputs) &&
                    layer.bias.size() == static_cast<size_t>(weights.outputs) &&
                    weights.words.size() == weights.scales.size() * static_cast<size_t>(weights.quarter()) &&
                    (layers_.empty() || outputs() == weights.inputs);
  if (!fits) {
    return Error{"bad-bundle", "the sizes of the network's layers don't fit", "", "a bundle written by perfcast train"};
  }
  layers_.push_back(std::move(layer));
  return {};
}

}  // namespace perfcast
