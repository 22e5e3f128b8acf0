#include "measure/watch/reconstruction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/random.h"
#include "base/statistics.h"
#include "learn/algebra/dense.h"
#include "learn/cluster/kmeans.h"
#include "learn/neural/kl_schedule.h"
#include "learn/neural/vae.h"
#include "measure/watch/archive.h"
#include "measure/watch/row_kernels.h"

namespace perfcast::measure {
namespace {

constexpr uint32_t kMostSide = 1024;  // of a layer
constexpr float kMostInput = 6;       // in z: what is further out says no more
constexpr float kMostScaled = 30;     // of v, in what the others are told of it
constexpr float kMostForSpread = 4;   // of v, in its correlation
constexpr double kRowsOfPrior = 50;   // a regime's deviation counts as this many rows of all regimes
constexpr int kMostRounds = 20;       // of k-means
constexpr double kMostSquare = 25;
constexpr double kMaskedShare = 0.1;
constexpr double kLearningRate = 2e-3;
constexpr float kLeastDeviation = 0.01f;

void put_inputs(std::span<const float> z, size_t columns, const std::vector<size_t>& rows, Random& random,
                RowMatrixF& inputs) {
  inputs.resize(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(2 * columns));
  for (size_t i = 0; i < rows.size(); ++i) {
    const float* from = z.data() + rows[i] * columns;
    float* to = inputs.data() + i * 2 * columns;
    // Some rows lose some metrics, so that absent ones are nothing new to the network.
    const bool masks = random.uniform() < 0.5;
    for (size_t j = 0; j < columns; ++j) {
      const bool present = !std::isnan(from[j]) && !(masks && random.uniform() < kMaskedShare);
      to[j] = present ? std::clamp(from[j], -kMostInput, kMostInput) : 0;
      to[columns + j] = present ? 1 : 0;
    }
  }
}

}  // namespace

Status Reconstruction::train(std::span<const float> z, size_t columns, const std::vector<size_t>& rows_used,
                             const ReconstructionOptions& options) {
  options_ = options;
  const auto latent = static_cast<int64_t>(options.latent);
  if (vae_.columns() == 0) {
    vae_ = Vae({static_cast<int64_t>(columns), {static_cast<int64_t>(options.hidden)}, latent, 0}, options.seed);
  }
  Adam encoder_adam;
  Adam decoder_adam;
  VaePass pass;
  VaeGradients gradients;
  Random random(options.seed ^ 0x7A7C4);
  std::vector<size_t> order = rows_used;
  size_t at = order.size();
  const size_t batch = std::min(options.batch, order.size());
  std::vector<size_t> rows(batch);
  for (size_t step = 0; step < options.steps; ++step) {
    if (at + batch > order.size()) {
      random.shuffle(order);
      at = 0;
    }
    std::copy_n(order.begin() + static_cast<std::ptrdiff_t>(at), batch, rows.begin());
    at += batch;
    put_inputs(z, columns, rows, random, pass.encoder.inputs());
    pass.draw_noise(static_cast<Eigen::Index>(batch), latent, random);
    const auto loss = vae_.forward(pass);
    if (!loss) return loss.error();
    if (!std::isfinite(loss->reconstruction + loss->kl)) {
      return Error{"training-diverged", "the VAE's loss is no longer finite", "", "a stream of finite numbers"};
    }
    const double progress = static_cast<double>(step) / static_cast<double>(options.steps);
    const auto rate = static_cast<float>(kLearningRate * (0.02 + 0.49 * (1 + std::cos(3.14159265358979 * progress))));
    encoder_adam.set_learning_rate(rate);
    decoder_adam.set_learning_rate(rate);
    const double kl =
        kl_weight(KlSchedule::kLinear, static_cast<int64_t>(step) + 1, static_cast<int64_t>(options.steps));
    if (auto status = vae_.backward(pass, kl, gradients); !status) return status;
    encoder_adam.step(vae_.encoder(), gradients.encoder);
    decoder_adam.step(vae_.decoder(), gradients.decoder);
  }
  take_networks();
  return {};
}

void Reconstruction::take_networks() {
  encoder_ = RowNetwork(vae_.encoder(), true, static_cast<size_t>(vae_.latent()));
  decoder_ = RowNetwork(vae_.decoder(), false);
}

double Reconstruction::error(std::span<const float> z, const std::vector<size_t>& rows_used) {
  const size_t n = columns();
  std::vector<float> e(n);
  uint32_t regime = 0;
  double sum = 0;
  double count = 0;
  for (const size_t row : rows_used) {
    residuals(1, z.data() + row * n, e.data(), &regime);
    for (const float value : e) {
      if (std::isnan(value)) continue;
      sum += std::min(static_cast<double>(value) * static_cast<double>(value), kMostSquare);
      count += 1;
    }
  }
  return count > 0 ? sum / count : 0;
}

void Reconstruction::residuals(size_t rows, const float* z, float* e, uint32_t* regime) {
  const size_t n = columns();
  latent_.resize(rows * encoder_.outputs());
  clipped_.resize(rows * n);
  for (size_t i = 0; i < rows * n; ++i) {
    clipped_[i] = std::isnan(z[i]) ? z[i] : std::clamp(z[i], -kMostInput, kMostInput);
  }
  encoder_.run(rows, clipped_.data(), latent_.data());
  decoder_.run(rows, latent_.data(), e);
  for (size_t i = 0; i < rows * n; ++i) e[i] = z[i] - e[i];
  for (size_t r = 0; r < rows; ++r) regime[r] = nearest(latent_.data() + r * encoder_.outputs());
}

uint32_t Reconstruction::nearest(const float* latent) const {
  const size_t n = encoder_.outputs();
  uint32_t best = 0;
  float least = std::numeric_limits<float>::infinity();
  for (size_t k = 0; k * n < centres_.size(); ++k) {
    float distance = 0;
    for (size_t i = 0; i < n; ++i) {
      const float difference = latent[i] - centres_[k * n + i];
      distance += difference * difference;
    }
    if (distance < least) {
      least = distance;
      best = static_cast<uint32_t>(k);
    }
  }
  return best;
}

void Reconstruction::find_regimes(std::span<const float> z, const std::vector<size_t>& rows_used) {
  const auto rows = static_cast<Eigen::Index>(rows_used.size());
  centres_.clear();
  Eigen::MatrixXd latents(rows, static_cast<Eigen::Index>(encoder_.outputs()));
  std::vector<float> e(columns());
  uint32_t regime = 0;
  for (Eigen::Index r = 0; r < rows; ++r) {
    residuals(1, z.data() + rows_used[static_cast<size_t>(r)] * columns(), e.data(), &regime);
    latents.row(r) = Eigen::Map<const Eigen::RowVectorXf>(latent_.data(), latents.cols()).cast<double>();
  }
  Random random(options_.seed ^ 0x2E61);
  const Eigen::VectorXd alike = Eigen::VectorXd::Ones(rows);
  const auto first = static_cast<Eigen::Index>(random.below(rows_used.size()));
  const auto regimes = static_cast<Eigen::Index>(std::clamp<size_t>(rows_used.size() / 200, 1, options_.most_regimes));
  const RowMatrixF centres =
      settle_centres(latents, alike, spread_centres(latents, alike, first, regimes, random), kMostRounds)
          .centres.cast<float>();
  centres_.assign(centres.data(), centres.data() + centres.size());
}

void Reconstruction::calibrate(std::span<const float> z, const std::vector<size_t>& rows_used) {
  const size_t n = columns();
  find_regimes(z, rows_used);
  const size_t regimes = centres_.size() / std::max<size_t>(encoder_.outputs(), 1);
  std::vector<std::vector<double>> by_regime(regimes * n);
  std::vector<std::vector<double>> all(n);
  std::vector<float> e(n);
  uint32_t regime = 0;
  for (const size_t row : rows_used) {
    residuals(1, z.data() + row * n, e.data(), &regime);
    for (size_t j = 0; j < n; ++j) {
      if (std::isnan(e[j])) continue;
      by_regime[regime * n + j].push_back(static_cast<double>(e[j]));
      all[j].push_back(static_cast<double>(e[j]));
    }
  }
  median_.assign(regimes * n, 0);
  inverse_deviation_.assign(regimes * n, 1);
  for (size_t j = 0; j < n; ++j) {
    double overall = 1;
    if (!all[j].empty()) {
      // A MAD of 0, where most rows have one value, is no spread.
      const double range = (quantile(all[j], 0.95) - quantile(all[j], 0.05)) / 3.29;
      overall = std::max(static_cast<double>(kLeastDeviation), std::max(robust_deviation(all[j]), 0.5 * range));
    }
    for (size_t k = 0; k < regimes; ++k) {
      std::vector<double>& values = by_regime[k * n + j];
      const auto count = static_cast<double>(values.size());
      double variance = kRowsOfPrior * overall * overall;
      if (!values.empty()) {
        median_[k * n + j] = static_cast<float>(median(values) * count / (count + kRowsOfPrior));
        const double range = (quantile(values, 0.95) - quantile(values, 0.05)) / 3.29;
        const double own = std::max(robust_deviation(std::move(values)), 0.5 * range);
        variance += count * own * own;
      }
      const auto deviation = static_cast<float>(std::sqrt(variance / (count + kRowsOfPrior)));
      inverse_deviation_[k * n + j] = 1 / std::max(deviation, kLeastDeviation);
    }
  }
  find_correlation(z, rows_used);
}

void Reconstruction::scale(const float* e, uint32_t regime, float* v) const {
  const size_t n = columns();
  scale_row(n, e, median_.data() + regime * n, inverse_deviation_.data() + regime * n, kMostScaled, v);
}

void Reconstruction::find_correlation(std::span<const float> z, const std::vector<size_t>& rows_used) {
  const size_t n = columns();
  std::vector<double> sums(n * n, 0);
  std::vector<float> e(n);
  std::vector<float> v(n);
  uint32_t regime = 0;
  for (const size_t row : rows_used) {
    residuals(1, z.data() + row * n, e.data(), &regime);
    scale(e.data(), regime, v.data());
    for (float& value : v) value = std::clamp(value, -kMostForSpread, kMostForSpread);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j <= i; ++j) sums[i * n + j] += static_cast<double>(v[i] * v[j]);
    }
  }
  Eigen::MatrixXd correlation = Eigen::MatrixXd::Identity(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const double size = std::sqrt(sums[i * n + i] * sums[j * n + j]);
      const auto a = static_cast<Eigen::Index>(i), b = static_cast<Eigen::Index>(j);
      correlation(a, b) = correlation(b, a) = size > 0 ? (1 - options_.shrinkage) * sums[i * n + j] / size : 0;
    }
  }
  const Eigen::MatrixXd p = inverse_positive_definite(correlation);
  const Eigen::VectorXd root = p.diagonal().cwiseMax(1e-12).cwiseSqrt();
  const Eigen::VectorXf inverse_root = root.cwiseInverse().cast<float>();
  const RowMatrixF precision = (p * root.cwiseInverse().asDiagonal()).cast<float>();
  inverse_root_.assign(inverse_root.data(), inverse_root.data() + inverse_root.size());
  precision_.assign(precision.data(), precision.data() + precision.size());
}

void Reconstruction::conditional(const float* e, uint32_t regime, float* w) const {
  const size_t n = columns();
  scaled_.resize(n);
  scale(e, regime, scaled_.data());
  multiply_square(n, precision_.data(), scaled_.data(), w);
  for (size_t j = 0; j < n; ++j) {
    if (std::isnan(e[j])) w[j] = 0;
  }
}

float Reconstruction::shift(size_t column, float w, uint32_t regime) const {
  return w * inverse_root_[column] / inverse_deviation_[regime * columns() + column];
}

void Reconstruction::archive(Archive& archive, size_t columns) {
  auto hidden = static_cast<uint32_t>(options_.hidden);
  auto latent = static_cast<uint32_t>(options_.latent);
  archive.values(hidden, latent);
  if (hidden == 0 || hidden > kMostSide || latent == 0 || latent > kMostSide || columns == 0) return archive.fail();
  // The networks' own bytes must be there before they are made.
  const size_t weights = (3 * columns + 3 * size_t{latent}) * hidden;
  if (archive.reading() && !archive.has(weights * sizeof(float))) archive.fail();
  if (!archive.ok()) return;
  if (archive.reading()) {
    options_.hidden = hidden;
    options_.latent = latent;
    vae_ = Vae({static_cast<int64_t>(columns), {static_cast<int64_t>(hidden)}, static_cast<int64_t>(latent), 0}, 1);
  }
  for (DenseNetwork* network : {&vae_.encoder(), &vae_.decoder()}) {
    for (DenseLayer& layer : network->layers()) {
      archive.raw(layer.weights.data(), static_cast<size_t>(layer.weights.size()));
      archive.raw(layer.bias.data(), static_cast<size_t>(layer.bias.size()));
    }
  }
  archive.array(centres_);
  if (archive.reading() && (centres_.empty() || centres_.size() % latent != 0)) archive.fail();
  if (!archive.ok()) return;
  const size_t regimes = centres_.size() / latent;
  archive.array(median_, regimes * columns);
  archive.array(inverse_deviation_, regimes * columns);
  archive.array(precision_, columns * columns);
  archive.array(inverse_root_, columns);
  if (archive.reading()) take_networks();
}

}  // namespace perfcast::measure
