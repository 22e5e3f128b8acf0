#pragma once
// What a row of metrics should look like, each metric given the others: the sigma-VAE of learn/neural on transformed
// metrics with their mask, and what its reconstruction leaves, brought to unit spread.
//
//   residual     e_j = z_j - VAE(z)_j
//   regime       the nearest of up to 8 centres (k-means) of the latent's mean: workloads differ in how well they are
//   reconstructed scaled       v_j = (e_j - median of e_j in the regime) / its robust deviation there conditional  w_j
//   = (P v)_j / sqrt(P_jj), P the inverse of the (shrunk) correlation of v: what of v_j the other metrics' residuals
//                don't explain; of unit variance where v is normal (Lauritzen 1996, 5.1.3)
// A fault in one metric is seen in its own w and hardly in the others', though the VAE's reconstruction of all of them
// bends to it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "learn/neural/vae.h"
#include "measure/watch/row_network.h"

namespace perfcast::measure {

class Archive;

struct ReconstructionOptions {
  size_t hidden = 48, latent = 8;
  size_t steps = 3000, batch = 128;  // of training
  size_t most_regimes = 8;
  double shrinkage = 0.1;  // of the correlation of v towards none
  uint64_t seed = 1;
};

class Reconstruction {
 public:
  // z: rows x columns, NaN absent; `rows_used`: those to train on; from where training ended before, where it was
  // trained. "training-diverged" or oneDNN's errors.
  Status train(std::span<const float> z, size_t columns, const std::vector<size_t>& rows_used,
               const ReconstructionOptions& options);
  // Centres and spreads of residuals by regime, and P, from these rows.
  void calibrate(std::span<const float> z, const std::vector<size_t>& rows_used);

  size_t columns() const { return encoder_.inputs(); }
  // For n rows: residuals e (NaN where absent), and regimes.
  void residuals(size_t rows, const float* z, float* e, uint32_t* regime);
  // One row's w from its e; 0 where absent.
  void conditional(const float* e, uint32_t regime, float* w) const;
  // How far z of this column is from what the other metrics say, by its w.
  float shift(size_t column, float w, uint32_t regime) const;
  // Mean over these rows' present values of e^2, each at most 25.
  double error(std::span<const float> z, const std::vector<size_t>& rows_used);
  void archive(Archive& archive, size_t columns);

 private:
  void take_networks();
  void find_regimes(std::span<const float> z, const std::vector<size_t>& rows_used);
  void find_correlation(std::span<const float> z, const std::vector<size_t>& rows_used);
  uint32_t nearest(const float* latent) const;
  void scale(const float* e, uint32_t regime, float* v) const;

  ReconstructionOptions options_;
  Vae vae_;
  RowNetwork encoder_, decoder_;                   // its, to the latent's mean, and back
  std::vector<float> centres_;                     // regimes x latent
  std::vector<float> median_, inverse_deviation_;  // regimes x columns
  std::vector<float> precision_;                   // columns x columns: P with its rows over sqrt(P_jj)
  std::vector<float> inverse_root_;                // 1 / sqrt(P_jj)
  std::vector<float> latent_, clipped_;
  mutable std::vector<float> scaled_;
};

}  // namespace perfcast::measure
