#pragma once
// A trained VaeRegressor for single rows: encoder's mean and head with weights in 8 bits, no allocation after the first
// row. Agrees with VaeRegressor::predict to some 3% of the targets' spread (8-bit weights; the test holds it to that).

#include <span>
#include <vector>

#include "base/result.h"
#include "learn/neural/dense_network.h"
#include "learn/neural/vae_regressor.h"

namespace perfcast {

class TensorMap;

class PackedVaeRegressor {
 public:
  PackedVaeRegressor() = default;
  explicit PackedVaeRegressor(const VaeRegressor& regressor);

  int64_t columns() const { return columns_; }
  int64_t outputs() const { return head_.outputs(); }
  // x and mask: columns() each; absent: mask 0, and x isn't read. output: outputs().
  void predict(std::span<const float> x, std::span<const float> mask, std::span<float> output) const;

  // Integrated gradients of predict(), [columns x outputs]: what each column adds, its mask with it. Each row:
  // columns() of x, 0 where absent, then as many of the mask.
  Eigen::MatrixXd attribute_columns(const Eigen::RowVectorXd& own, const Eigen::RowVectorXd& reference) const;

  void save(TensorMap& tensors) const;
  // "bad-bundle" where parts are absent or don't fit each other.
  Status load(const TensorMap& tensors);

 private:
  int64_t columns_ = 0;
  bool use_vae_ = false, head_reads_inputs_ = false;
  PackedNetwork encoder_;  // 2D -> L; empty without a VAE
  PackedNetwork head_;
  std::vector<float> mean_;  // J
  float scale_ = 1;
};

// Layers as tensors "layers", "weights0", "scales0", "bias0", ....
void save_network(const PackedNetwork& network, TensorMap& tensors);
Result<PackedNetwork> load_network(const TensorMap& tensors);

}  // namespace perfcast
