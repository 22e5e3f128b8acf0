#include "learn/neural/dense_network.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
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

namespace {

constexpr size_t kAdamPiece = size_t{1} << 16;
constexpr size_t kAdamWorthThreads = size_t{1} << 19;  // values: to start a thread takes as long as some 100,000

template <typename Matrix>
std::span<float> all_of(Matrix& values) {
  return {values.data(), static_cast<size_t>(values.size())};
}

template <typename Matrix>
std::span<const float> all_of(const Matrix& values) {
  return {values.data(), static_cast<size_t>(values.size())};
}

}  // namespace

Status DenseNetwork::forward(DenseTrace& trace) const {
  trace.activations.resize(layers_.size() + 1);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const DenseLayer& layer = layers_[i];
    const RowMatrixF& in = trace.activations[i];
    RowMatrixF& out = trace.activations[i + 1];
    out.resize(in.rows(), layer.weights.cols());
    const Product product{.m = in.rows(), .n = out.cols(), .k = in.cols()};
    if (auto status = multiply(product, in.data(), layer.weights.data(), out.data()); !status) return status;
    add_bias(all_of(out), all_of(layer.bias), i + 1 < layers_.size());
  }
  return {};
}

Result<RowMatrixF> DenseNetwork::forward(const RowMatrixF& inputs) const {
  DenseTrace trace;
  trace.inputs() = inputs;
  if (auto status = forward(trace); !status) return status.error();
  return std::move(trace.activations.back());
}

Status DenseNetwork::backward(DenseTrace& trace, std::vector<DenseLayer>& gradients, bool to_inputs) const {
  gradients.resize(layers_.size());
  trace.hidden_gradient.resize(layers_.size());
  const RowMatrixF* backward = &trace.output_gradient;
  for (size_t i = layers_.size(); i-- > 0;) {
    const RowMatrixF& in = trace.activations[i];
    DenseLayer& out = gradients[i];
    out.weights.resize(in.cols(), backward->cols());
    out.bias.resize(backward->cols());
    const Product by_weight{.transpose_a = true, .m = in.cols(), .n = backward->cols(), .k = in.rows()};
    if (auto status = multiply(by_weight, in.data(), backward->data(), out.weights.data()); !status) return status;
    sum_rows(all_of(*backward), all_of(out.bias));
    if (i == 0 && !to_inputs) break;
    RowMatrixF& before = i == 0 ? trace.input_gradient : trace.hidden_gradient[i];
    before.resize(in.rows(), in.cols());
    const Product by_input{.transpose_b = true, .m = in.rows(), .n = in.cols(), .k = backward->cols()};
    if (auto status = multiply(by_input, backward->data(), layers_[i].weights.data(), before.data()); !status) {
      return status;
    }
    if (i > 0) close_rectified(all_of(before), all_of(in));
    backward = &before;
  }
  return {};
}

double weighted_squared_error(const RowMatrixF& prediction, const RowMatrixF& targets, const RowMatrixF& weights,
                              double total, RowMatrixF& gradient) {
  const auto scale = static_cast<float>(1 / std::max(total, 1e-12));
  gradient = scale * weights.cwiseProduct(prediction - targets);
  return 0.5 * gradient.cast<double>().cwiseProduct((prediction - targets).cast<double>()).sum();
}

Result<double> DenseNetwork::gradient(const TrainingBatch& batch, std::vector<DenseLayer>& gradients) const {
  DenseTrace trace;
  trace.inputs() = batch.inputs;
  if (auto status = forward(trace); !status) return status.error();
  const double loss = weighted_squared_error(trace.output(), batch.targets, batch.weights,
                                             static_cast<double>(batch.weights.sum()), trace.output_gradient);
  if (auto status = backward(trace, gradients, false); !status) return status.error();
  return loss;
}

void Adam::step(DenseNetwork& network, const std::vector<DenseLayer>& gradients) {
  std::vector<DenseLayer>& layers = network.layers();
  if (state_.first.empty()) {
    for (const DenseLayer& layer : layers) {
      state_.first.push_back(
          {RowMatrixF::Zero(layer.weights.rows(), layer.weights.cols()), Eigen::VectorXf::Zero(layer.bias.size())});
    }
    state_.second = state_.first;
  }
  ++state_.steps;
  const auto steps = static_cast<double>(state_.steps);
  const AdamStep step{
      .rate = options_.learning_rate,
      .first_decay = options_.first_decay,
      .second_decay = options_.second_decay,
      .first_scale = static_cast<float>(1 / (1 - std::pow(static_cast<double>(options_.first_decay), steps))),
      .second_scale = static_cast<float>(1 / (1 - std::pow(static_cast<double>(options_.second_decay), steps))),
      .epsilon = options_.epsilon};
  // In pieces, for threads: one pass over memory is what an update takes.
  struct Piece {
    float weight_decay;
    std::span<const float> gradient;
    std::span<float> first, second, values;
  };
  std::vector<Piece> pieces;
  size_t all = 0;
  const auto add = [&](float decay, std::span<const float> gradient, std::span<float> first, std::span<float> second,
                       std::span<float> values) {
    for (size_t at = 0; at < values.size(); at += kAdamPiece) {
      const size_t n = std::min(kAdamPiece, values.size() - at);
      pieces.push_back(
          {decay, gradient.subspan(at, n), first.subspan(at, n), second.subspan(at, n), values.subspan(at, n)});
    }
    all += values.size();
  };
  for (size_t i = 0; i < layers.size(); ++i) {
    DenseLayer& first = state_.first[i];
    DenseLayer& second = state_.second[i];
    add(options_.weight_decay, all_of(gradients[i].weights), all_of(first.weights), all_of(second.weights),
        all_of(layers[i].weights));
    add(0, all_of(gradients[i].bias), all_of(first.bias), all_of(second.bias), all_of(layers[i].bias));
  }
  // No piece can fail.
  static_cast<void>(
      parallel_for(pieces.size(), all < kAdamWorthThreads ? 1 : threads_in_use(), [&](size_t i) -> Status {
        const Piece& piece = pieces[i];
        AdamStep own = step;
        own.weight_decay = piece.weight_decay;
        adam_step(own, piece.gradient, piece.first, piece.second, piece.values);
        return {};
      }));
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
