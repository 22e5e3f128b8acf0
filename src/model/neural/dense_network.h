#pragma once
// A dense network with rectified hidden layers and a linear output, trained by Adam on a weighted squared error.

#include <Eigen/Dense>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/neural/dense_kernels.h"

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

  Result<RowMatrixF> forward(const RowMatrixF& inputs) const;
  // Half the weighted mean of squared errors, and its gradient by every weight and bias.
  Result<double> gradient(const TrainingBatch& batch, std::vector<DenseLayer>& gradients) const;

 private:
  Status run(const RowMatrixF& inputs, std::vector<RowMatrixF>& activations) const;

  std::vector<DenseLayer> layers_;
};

class Adam {
 public:
  explicit Adam(const AdamOptions& options) : options_(options) {}
  void step(DenseNetwork& network, const std::vector<DenseLayer>& gradients);

 private:
  AdamOptions options_;
  std::vector<DenseLayer> first_, second_;
  int64_t steps_ = 0;
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
