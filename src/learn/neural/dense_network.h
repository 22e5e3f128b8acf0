#pragma once
// A dense network with rectified hidden layers and a linear output, trained by Adam on a weighted squared error.

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "learn/neural/dense_kernels.h"

namespace perfcast {

using RowMatrixF = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct DenseLayer {
  RowMatrixF weights;  // inputs x outputs
  Eigen::VectorXf bias;
};

struct TrainingBatch {
  RowMatrixF inputs;   // rows x inputs
  RowMatrixF targets;  // rows x outputs
  RowMatrixF weights;  // rows x outputs: of each squared error; 0: not measured
};

// What a pass forward leaves for the pass back. Kept from batch to batch, it allocates nothing.
struct DenseTrace {
  // activations[i]: what layer i reads, the first being the inputs, rows x inputs; the last: the network's output.
  std::vector<RowMatrixF> activations = std::vector<RowMatrixF>(1);
  RowMatrixF output_gradient;               // rows x outputs: filled by the caller, spent by backward()
  RowMatrixF input_gradient;                // rows x inputs, where it was asked for
  std::vector<RowMatrixF> hidden_gradient;  // by activation

  RowMatrixF& inputs() { return activations.front(); }
  const RowMatrixF& inputs() const { return activations.front(); }
  const RowMatrixF& output() const { return activations.back(); }
};

// Half the sum of weights x (prediction - target)^2 over `total`; `gradient`: by the prediction.
double weighted_squared_error(const RowMatrixF& prediction, const RowMatrixF& targets, const RowMatrixF& weights,
                              double total, RowMatrixF& gradient);

struct AdamOptions {
  float learning_rate = 1e-3f;
  float first_decay = 0.9f, second_decay = 0.999f, epsilon = 1e-8f;
  float weight_decay = 0;  // decoupled (AdamW), per step and unit of learning rate
};

class DenseNetwork {
 public:
  DenseNetwork() = default;
  // He-initialised from `seed`; sizes: inputs, hidden..., outputs.
  DenseNetwork(const std::vector<int64_t>& sizes, uint64_t seed);

  const std::vector<DenseLayer>& layers() const { return layers_; }
  std::vector<DenseLayer>& layers() { return layers_; }

  int64_t inputs() const { return layers_.empty() ? 0 : layers_.front().weights.rows(); }
  int64_t outputs() const { return layers_.empty() ? 0 : layers_.back().weights.cols(); }

  Result<RowMatrixF> forward(const RowMatrixF& inputs) const;
  // From trace.inputs() to trace.output().
  Status forward(DenseTrace& trace) const;
  // After forward(trace) and with trace.output_gradient, the loss's gradient by the output: its gradient by every
  // weight and bias (overwritten) and, where `to_inputs`, by the inputs.
  Status backward(DenseTrace& trace, std::vector<DenseLayer>& gradients, bool to_inputs) const;
  // Half the weighted mean of squared errors, and its gradient by every weight and bias.
  Result<double> gradient(const TrainingBatch& batch, std::vector<DenseLayer>& gradients) const;

 private:
  std::vector<DenseLayer> layers_;
};

// Moments of the gradients so far, of the network's shape; empty before the first step.
struct AdamState {
  std::vector<DenseLayer> first, second;
  int64_t steps = 0;
};

class Adam {
 public:
  explicit Adam(const AdamOptions& options = {}) : options_(options) {}
  // With weight decay on weights, not on biases.
  void step(DenseNetwork& network, const std::vector<DenseLayer>& gradients);

  void set_learning_rate(float rate) { options_.learning_rate = rate; }
  const AdamState& state() const { return state_; }
  void set_state(AdamState state) { state_ = std::move(state); }

 private:
  AdamOptions options_;
  AdamState state_;
};

// A trained network for single rows: weights in 8 bits, no allocation.
class PackedNetwork {
 public:
  struct Layer {
    PackedWeights weights;
    std::vector<float> bias;
  };

  PackedNetwork() = default;
  explicit PackedNetwork(const DenseNetwork& network);

  int64_t inputs() const { return layers_.empty() ? 0 : layers_.front().weights.inputs; }
  int64_t outputs() const { return layers_.empty() ? 0 : layers_.back().weights.outputs; }
  const std::vector<Layer>& layers() const { return layers_; }
  // output.size() == outputs(); `row` has inputs() values.
  void predict(std::span<const float> row, std::span<float> output) const;
  // "bad-bundle" where sizes don't fit.
  Status append(Layer layer);

 private:
  std::vector<Layer> layers_;
};

}  // namespace perfcast
