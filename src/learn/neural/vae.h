#pragma once
// sigma-VAE (Rybkin, Daniilidis & Levine, ICML 2021) on counters of which some are absent: a variational autoencoder
// whose decoder shares one calibrated noise level, sigma, over all columns. Standardise the columns first.
//
// Per row: reconstruction = sum over present columns of (x - x')^2 / (2 sigma^2) + log sigma + log(2 pi) / 2,
//          kl = -1/2 sum over the latent of 1 + logvar - mu^2 - exp(logvar).
// sigma^2 is the mean of (x - x')^2 over the batch's present entries, and the gradient flows through it; log sigma is
// softly bounded below: log sigma = -6 + softplus(log sigma + 6). The encoder's raw log variance r is softly bounded,
// too: logvar = 12 tanh(r / 12), so that no step of training can overflow it.

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "learn/neural/dense_network.h"

namespace perfcast {

struct VaeOptions {
  int64_t columns = 0;                       // D
  std::vector<int64_t> hidden = {256, 256};  // of the encoder; the decoder's, reversed
  int64_t latent = 16;                       // L
  double fixed_sigma = 0;                    // 0: calibrated
};

// [N x 2D]: x where present, else 0; then the mask. All that the VAE ever sees of x, so that an absent value, whatever
// stands there (NaN too), counts for nothing. `mask`: 1 present, 0 absent. "bad-training-data" for other sizes, another
// mask, or a present value that isn't finite.
Result<RowMatrixF> masked_inputs(const RowMatrixF& x, const RowMatrixF& mask);

// Means over a batch's rows, in nats.
struct VaeLoss {
  double reconstruction = 0, kl = 0, sigma = 0;
};

// A batch on its way forward and back; kept from batch to batch, it allocates nothing.
struct VaePass {
  DenseTrace encoder, decoder;  // encoder.inputs(): [B x 2D] masked inputs, filled by the caller
  RowMatrixF noise;             // [B x L] standard normal, filled by the caller; zero: the latent's mean
  RowMatrixF latent_gradient;   // [B x L] of a further loss by the latent, added by backward(); empty: none
  RowMatrixF mean, log_variance;
  const RowMatrixF& latent() const { return decoder.inputs(); }

  void draw_noise(Eigen::Index rows, Eigen::Index latent, Random& random);
};

struct VaeGradients {
  std::vector<DenseLayer> encoder, decoder;
};

class Vae {
 public:
  Vae() = default;
  Vae(const VaeOptions& options, uint64_t seed);

  int64_t columns() const { return options_.columns; }
  int64_t latent() const { return options_.latent; }
  // encoder: 2D -> mu, raw log variance (2L); decoder: L -> D.
  const DenseNetwork& encoder() const { return encoder_; }
  const DenseNetwork& decoder() const { return decoder_; }
  DenseNetwork& encoder() { return encoder_; }
  DenseNetwork& decoder() { return decoder_; }

  // Inputs and noise to mean, log variance and latent = mean + exp(log variance / 2) noise.
  Status encode(VaePass& pass) const;
  // encode(), the reconstruction, and the loss; fills the decoder's output gradient.
  Result<VaeLoss> forward(VaePass& pass) const;
  // After forward(): gradients of reconstruction + kl_weight kl + whatever latent_gradient is of.
  Status backward(VaePass& pass, double kl_weight, VaeGradients& gradients) const;
  // After encode(): gradients by the encoder of what latent_gradient is of, alone.
  Status backward_encoder(VaePass& pass, std::vector<DenseLayer>& gradients) const;
  // [N x L] means of masked inputs.
  Result<RowMatrixF> means(const RowMatrixF& inputs) const;

 private:
  Status finish_backward(VaePass& pass, const RowMatrixF& by_latent, double kl_weight,
                         std::vector<DenseLayer>& gradients) const;

  VaeOptions options_;
  DenseNetwork encoder_, decoder_;
};

}  // namespace perfcast
