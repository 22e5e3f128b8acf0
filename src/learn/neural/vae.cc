#include "learn/neural/vae.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace perfcast {
namespace {

constexpr double kLeastLogSigma = -6;
constexpr double kHalfLogTwoPi = 0.91893853320467274178;
constexpr float kLogVarianceBound = 12;
constexpr double kLeastVariance = 1e-30;  // of a batch: its logarithm must exist

double softplus(double x) { return x > 30 ? x : std::log1p(std::exp(x)); }
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<int64_t> sizes_of(int64_t inputs, const std::vector<int64_t>& hidden, int64_t outputs) {
  std::vector<int64_t> sizes = {inputs};
  sizes.insert(sizes.end(), hidden.begin(), hidden.end());
  sizes.push_back(outputs);
  return sizes;
}

std::vector<int64_t> reversed(std::vector<int64_t> values) {
  std::reverse(values.begin(), values.end());
  return values;
}

Error bad_data(const std::string& message, const std::string& where, const std::string& expected) {
  return Error{"bad-training-data", message, where, expected};
}

std::string size_of(const RowMatrixF& matrix) {
  return std::to_string(matrix.rows()) + " x " + std::to_string(matrix.cols());
}

}  // namespace

Result<RowMatrixF> masked_inputs(const RowMatrixF& x, const RowMatrixF& mask) {
  if (x.rows() != mask.rows() || x.cols() != mask.cols()) {
    return bad_data("the mask is " + size_of(mask), "mask", "as the values: " + size_of(x));
  }
  RowMatrixF inputs(x.rows(), 2 * x.cols());
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      const float present = mask(r, c);
      const std::string where = "row " + std::to_string(r) + ", column " + std::to_string(c);
      if (present != 0 && present != 1) return bad_data("the mask is neither 0 nor 1", where, "1 present, 0 absent");
      if (present == 1 && !std::isfinite(x(r, c))) {
        return bad_data("a value that is present isn't finite", where, "a finite number, or 0 in the mask");
      }
      inputs(r, c) = present == 1 ? x(r, c) : 0.0f;
      inputs(r, x.cols() + c) = present;
    }
  }
  return inputs;
}

void VaePass::draw_noise(Eigen::Index rows, Eigen::Index latent, Random& random) {
  noise.resize(rows, latent);
  for (Eigen::Index i = 0; i < noise.size(); ++i) noise.data()[i] = static_cast<float>(random.normal());
}

Vae::Vae(const VaeOptions& options, uint64_t seed)
    : options_(options),
      encoder_(sizes_of(2 * options.columns, options.hidden, 2 * options.latent), seed),
      decoder_(sizes_of(options.latent, reversed(options.hidden), options.columns), seed ^ 0xDEC0DE) {}

Status Vae::encode(VaePass& pass) const {
  if (auto status = encoder_.forward(pass.encoder); !status) return status;
  const RowMatrixF& output = pass.encoder.output();
  const auto latent = static_cast<Eigen::Index>(options_.latent);
  pass.mean = output.leftCols(latent);
  pass.log_variance = kLogVarianceBound * (output.rightCols(latent) / kLogVarianceBound).array().tanh();
  pass.decoder.inputs() = pass.mean.array() + (0.5f * pass.log_variance.array()).exp() * pass.noise.array();
  return {};
}

Result<VaeLoss> Vae::forward(VaePass& pass) const {
  if (auto status = encode(pass); !status) return status.error();
  if (auto status = decoder_.forward(pass.decoder); !status) return status.error();
  const auto columns = static_cast<Eigen::Index>(options_.columns);
  const auto rows = static_cast<double>(pass.noise.rows());
  const auto target = pass.encoder.inputs().leftCols(columns);
  const auto mask = pass.encoder.inputs().rightCols(columns);
  RowMatrixF& error = pass.decoder.output_gradient;
  error = (pass.decoder.output() - target).cwiseProduct(mask);
  const double squares = error.cast<double>().squaredNorm();
  const double present = mask.cast<double>().sum();

  VaeLoss loss;
  double by_squares = 0;  // the reconstruction's derivative
  if (options_.fixed_sigma > 0) {
    loss.sigma = options_.fixed_sigma;
    by_squares = 0.5 / (loss.sigma * loss.sigma);
  } else if (present > 0) {
    const double variance = std::max(squares / present, kLeastVariance);
    const double free = 0.5 * std::log(variance) - kLeastLogSigma;
    loss.sigma = std::exp(kLeastLogSigma + softplus(free));
    const double precision = 1 / (loss.sigma * loss.sigma);
    const double by_log_sigma = present - squares * precision;
    by_squares = 0.5 * precision + by_log_sigma * logistic(free) * 0.5 / (variance * present);
  }
  if (present > 0) {
    loss.reconstruction =
        (0.5 * squares / (loss.sigma * loss.sigma) + present * (std::log(loss.sigma) + kHalfLogTwoPi)) / rows;
  }
  error *= static_cast<float>(2 * by_squares / rows);
  const auto mean = pass.mean.cast<double>().array();
  const auto log_variance = pass.log_variance.cast<double>().array();
  loss.kl = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum() / rows;
  return loss;
}

Status Vae::finish_backward(VaePass& pass, const RowMatrixF& by_latent, double kl_weight,
                            std::vector<DenseLayer>& gradients) const {
  const auto latent = static_cast<Eigen::Index>(options_.latent);
  const float kl = static_cast<float>(kl_weight) / static_cast<float>(pass.noise.rows());
  RowMatrixF& by_output = pass.encoder.output_gradient;
  by_output.resize(pass.noise.rows(), 2 * latent);
  const auto log_variance = pass.log_variance.array();
  by_output.leftCols(latent) = by_latent + kl * pass.mean;
  const auto bound_slope = 1 - (log_variance / kLogVarianceBound).square();
  by_output.rightCols(latent) = (0.5f * by_latent.array() * pass.noise.array() * (0.5f * log_variance).exp() +
                                 0.5f * kl * (log_variance.exp() - 1)) *
                                bound_slope;
  return encoder_.backward(pass.encoder, gradients, false);
}

Status Vae::backward(VaePass& pass, double kl_weight, VaeGradients& gradients) const {
  if (auto status = decoder_.backward(pass.decoder, gradients.decoder, true); !status) return status;
  if (pass.latent_gradient.size() > 0) pass.decoder.input_gradient += pass.latent_gradient;
  return finish_backward(pass, pass.decoder.input_gradient, kl_weight, gradients.encoder);
}

Status Vae::backward_encoder(VaePass& pass, std::vector<DenseLayer>& gradients) const {
  return finish_backward(pass, pass.latent_gradient, 0, gradients);
}

Result<RowMatrixF> Vae::means(const RowMatrixF& inputs) const {
  auto output = encoder_.forward(inputs);
  if (!output) return output.error();
  return RowMatrixF(output->leftCols(static_cast<Eigen::Index>(options_.latent)));
}

}  // namespace perfcast
