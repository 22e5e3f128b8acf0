#include "measure/watch/row_network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "learn/neural/dense_network.h"
#include "measure/watch/row_kernels.h"

namespace perfcast::measure {
namespace {

size_t padded(size_t n) { return (n + kOutputTile - 1) / kOutputTile * kOutputTile; }

}  // namespace

RowNetwork::RowNetwork(const DenseNetwork& network, bool masked, size_t outputs) : masked_(masked) {
  for (const DenseLayer& dense : network.layers()) {
    Layer layer;
    const bool first = layers_.empty();
    const bool last = layers_.size() + 1 == network.layers().size();
    const auto all_inputs = static_cast<size_t>(dense.weights.rows());
    layer.inputs = first && masked ? all_inputs / 2 : all_inputs;
    layer.outputs = last && outputs > 0 ? outputs : static_cast<size_t>(dense.weights.cols());
    layer.stride = padded(layer.outputs);
    layer.weights.assign(layer.inputs * layer.stride, 0);
    layer.bias.assign(layer.stride, 0);
    for (size_t c = 0; c < layer.outputs; ++c) layer.bias[c] = dense.bias(static_cast<Eigen::Index>(c));
    const auto weight = [&](size_t k, size_t c) {
      return dense.weights(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(c));
    };
    if (first && masked) layer.mask_weights.assign(layer.inputs * layer.stride, 0);
    for (size_t k = 0; k < layer.inputs; ++k) {
      for (size_t c = 0; c < layer.outputs; ++c) {
        layer.weights[k * layer.stride + c] = weight(k, c);
        if (layer.mask_weights.empty()) continue;
        layer.mask_weights[k * layer.stride + c] = weight(layer.inputs + k, c);
        layer.bias[c] += weight(layer.inputs + k, c);
      }
    }
    layers_.push_back(std::move(layer));
  }
}

void RowNetwork::run(size_t rows, const float* x, float* y) {
  const size_t columns = inputs();
  from_.assign(x, x + rows * columns);
  size_t from_stride = columns;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    to_.resize(rows * layer.stride);
    for (size_t r = 0; r < rows; ++r) {
      float* sums = to_.data() + r * layer.stride;
      std::copy(layer.bias.begin(), layer.bias.end(), sums);
      if (i > 0 || !masked_) continue;
      float* inputs = from_.data() + r * from_stride;
      for (size_t k = 0; k < layer.inputs; ++k) {
        if (!std::isnan(inputs[k])) continue;
        inputs[k] = 0;
        for (size_t c = 0; c < layer.stride; ++c) sums[c] -= layer.mask_weights[k * layer.stride + c];
      }
    }
    multiply_rows(rows, layer.inputs, layer.stride, from_.data(), from_stride, layer.weights.data(), to_.data());
    if (i + 1 < layers_.size()) {
      for (float& value : to_) value = std::max(value, 0.0f);
    }
    from_stride = layer.stride;
    std::swap(from_, to_);
  }
  for (size_t r = 0; r < rows; ++r) std::copy_n(from_.data() + r * from_stride, outputs(), y + r * outputs());
}

}  // namespace perfcast::measure
