#include "learn/neural/vae.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "learn/neural/double_network.h"
#include "learn/neural/kl_schedule.h"
#include "learn/neural/test_matrices.h"

namespace perfcast {
namespace {

using testing_network::random_mask;
using testing_network::random_matrix;

using testing_network::DoubleNetwork;
using testing_network::in_double;
using testing_network::relative_error;

TEST(KlWeight, ExactValues) {
  for (const int64_t t : {1, 50, 100}) EXPECT_EQ(kl_weight(KlSchedule::kNone, t, 100), 1);
  EXPECT_DOUBLE_EQ(kl_weight(KlSchedule::kLinear, 1, 100, 4, 1), 0.01);
  EXPECT_DOUBLE_EQ(kl_weight(KlSchedule::kLinear, 100, 100, 4, 1), 1);
  EXPECT_DOUBLE_EQ(kl_weight(KlSchedule::kLinear, 25, 100, 4, 0.5), 0.5);
  EXPECT_DOUBLE_EQ(kl_weight(KlSchedule::kLinear, 51, 100, 4, 0.5), 1);
  // 4 cycles of 25 steps, of which half ramp: tau = (t - 1) mod 25 / 25.
  EXPECT_DOUBLE_EQ(kl_weight(KlSchedule::kCyclical, 1, 100), 0);
  EXPECT_DOUBLE_EQ(kl_weight(KlSchedule::kCyclical, 6, 100), 0.4);
  EXPECT_DOUBLE_EQ(kl_weight(KlSchedule::kCyclical, 14, 100), 1);
  EXPECT_DOUBLE_EQ(kl_weight(KlSchedule::kCyclical, 25, 100), 1);
  EXPECT_DOUBLE_EQ(kl_weight(KlSchedule::kCyclical, 26, 100), 0);
  EXPECT_DOUBLE_EQ(kl_weight(KlSchedule::kCyclical, 100, 100), 1);
  // ceil(10 / 4) = 3 steps a cycle, over 2.5: the third has tau 0.8, the fourth starts again.
  EXPECT_DOUBLE_EQ(kl_weight(KlSchedule::kCyclical, 2, 10), 0.8);
  EXPECT_DOUBLE_EQ(kl_weight(KlSchedule::kCyclical, 4, 10), 0);
  EXPECT_DOUBLE_EQ(kl_weight(KlSchedule::kCyclical, 2, 10, 1, 1), 0.1);
}

TEST(MaskedInputs, ReadsNothingThatIsAbsent) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  RowMatrixF x(1, 3);
  x << 2, nan, 5;
  RowMatrixF mask(1, 3);
  mask << 1, 0, 0;
  const auto inputs = masked_inputs(x, mask);
  ASSERT_TRUE(inputs);
  RowMatrixF expected(1, 6);
  expected << 2, 0, 0, 1, 0, 0;
  EXPECT_EQ(*inputs, expected);
  mask(0, 1) = 1;
  EXPECT_EQ(masked_inputs(x, mask).error().where, "row 0, column 1");
  mask(0, 1) = 0.5f;
  EXPECT_EQ(masked_inputs(x, mask).error().code, "bad-training-data");
  EXPECT_FALSE(masked_inputs(x, RowMatrixF::Ones(1, 2)));
}

// The formulas of vae.h once more, plainly and in double.
struct Reference {
  DoubleNetwork encoder, decoder;
  Eigen::MatrixXd inputs, noise, by_latent;  // by_latent: a further loss, the sum of its products with the latent
  double fixed_sigma = 0, kl_weight = 1;
  double reconstruction = 0, kl = 0, sigma = 0;

  double loss() {
    const Eigen::Index latent = noise.cols();
    const Eigen::Index columns = inputs.cols() / 2;
    const auto rows = static_cast<double>(inputs.rows());
    const Eigen::MatrixXd output = testing_network::run(encoder, inputs);
    Eigen::MatrixXd z(inputs.rows(), latent);
    kl = 0;
    double further = 0;
    for (Eigen::Index r = 0; r < z.rows(); ++r) {
      for (Eigen::Index l = 0; l < latent; ++l) {
        const double mu = output(r, l);
        const double log_variance = 12 * std::tanh(output(r, latent + l) / 12);
        z(r, l) = mu + std::exp(log_variance / 2) * noise(r, l);
        kl -= 0.5 * (1 + log_variance - mu * mu - std::exp(log_variance)) / rows;
        further += by_latent(r, l) * z(r, l);
      }
    }
    const Eigen::MatrixXd back = testing_network::run(decoder, z);
    double squares = 0;
    double present = 0;
    for (Eigen::Index r = 0; r < z.rows(); ++r) {
      for (Eigen::Index c = 0; c < columns; ++c) {
        if (inputs(r, columns + c) == 0) continue;
        squares += std::pow(inputs(r, c) - back(r, c), 2);
        ++present;
      }
    }
    const double log_sigma = -6 + std::log1p(std::exp(0.5 * std::log(squares / present) + 6));
    sigma = fixed_sigma > 0 ? fixed_sigma : std::exp(log_sigma);
    reconstruction = (squares / (2 * sigma * sigma) + present * (std::log(sigma) + 0.5 * std::log(2 * M_PI))) / rows;
    return reconstruction + kl_weight * kl + further;
  }
};

// A small VAE, a batch of it, and its reference.
struct Case {
  Vae vae;
  VaePass pass;
  Reference reference;

  Case(double fixed_sigma, double kl_weight, float scale = 1)
      : vae({.columns = 5, .hidden = {9, 7}, .latent = 3, .fixed_sigma = fixed_sigma}, 11) {
    Random random(12);
    for (DenseNetwork* network : {&vae.encoder(), &vae.decoder()}) {
      for (DenseLayer& layer : network->layers()) layer.bias = 0.3f * random_matrix(random, layer.bias.size(), 1);
    }
    DenseLayer& last = vae.decoder().layers().back();
    last.weights *= scale;
    last.bias *= scale;
    pass.encoder.inputs() = *masked_inputs(scale * random_matrix(random, 6, 5), random_mask(random, 6, 5, 0.3));
    pass.noise = random_matrix(random, 6, 3);
    pass.latent_gradient = 0.5f * random_matrix(random, 6, 3);
    reference = {in_double(vae.encoder()),
                 in_double(vae.decoder()),
                 pass.encoder.inputs().cast<double>(),
                 pass.noise.cast<double>(),
                 pass.latent_gradient.cast<double>(),
                 fixed_sigma,
                 kl_weight};
  }
};

TEST(Vae, LossAndEveryGradientAgreeWithTheFormulasInDouble) {
  // Free sigma, fixed sigma, no KL, and errors so small that the bound on sigma holds them (scale 1e-3: sigma 4e-3).
  for (const auto& [fixed, weight, scale] : {std::tuple(0.0, 1.0, 1.0f), std::tuple(0.7, 0.5, 1.0f),
                                             std::tuple(0.0, 0.0, 1.0f), std::tuple(0.0, 1.0, 1e-3f)}) {
    Case c(fixed, weight, scale);
    const auto loss = c.vae.forward(c.pass);
    ASSERT_TRUE(loss);
    c.reference.loss();
    EXPECT_NEAR(loss->reconstruction, c.reference.reconstruction, 1e-4 * std::abs(c.reference.reconstruction));
    EXPECT_NEAR(loss->kl, c.reference.kl, 1e-5);
    EXPECT_NEAR(loss->sigma, c.reference.sigma, 1e-5 * c.reference.sigma);
    VaeGradients gradients;
    ASSERT_TRUE(c.vae.backward(c.pass, weight, gradients).ok());
    const auto again = [&c] { return c.reference.loss(); };
    EXPECT_LT(relative_error(c.reference.encoder, gradients.encoder, again), 2e-4) << fixed << " " << scale;
    EXPECT_LT(relative_error(c.reference.decoder, gradients.decoder, again), 2e-4) << fixed << " " << scale;
  }
}

TEST(Vae, EncoderAloneHasTheGradientOfTheFurtherLoss) {
  Case c(0, 0);
  ASSERT_TRUE(c.vae.encode(c.pass).ok());
  std::vector<DenseLayer> gradients;
  ASSERT_TRUE(c.vae.backward_encoder(c.pass, gradients).ok());
  const auto further = [&c] { return c.reference.loss() - c.reference.reconstruction; };
  EXPECT_LT(relative_error(c.reference.encoder, gradients, further), 2e-4);
}

TEST(Vae, ABatchWithNothingPresentTeachesTheDecoderNothing) {
  Case c(0, 1);
  c.pass.encoder.inputs().setZero();
  c.pass.latent_gradient.resize(0, 0);
  const auto loss = c.vae.forward(c.pass);
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->reconstruction, 0);
  VaeGradients gradients;
  ASSERT_TRUE(c.vae.backward(c.pass, 1, gradients).ok());
  for (const DenseLayer& layer : gradients.decoder) EXPECT_EQ(layer.weights.cwiseAbs().maxCoeff(), 0);
  EXPECT_TRUE(gradients.encoder[0].bias.allFinite());
}

TEST(DenseNetwork, GradientByWeightsAndInputsAgreesWithDouble) {
  Random random(3);
  DenseNetwork network({4, 6, 5, 3}, 7);
  for (DenseLayer& layer : network.layers()) layer.bias.setConstant(0.1f);
  DenseTrace trace;
  trace.inputs() = random_matrix(random, 8, 4);
  const RowMatrixF targets = random_matrix(random, 8, 3);
  const RowMatrixF weights = random_matrix(random, 8, 3).cwiseAbs();
  ASSERT_TRUE(network.forward(trace).ok());
  const double loss = weighted_squared_error(trace.output(), targets, weights, 7, trace.output_gradient);
  std::vector<DenseLayer> gradients;
  ASSERT_TRUE(network.backward(trace, gradients, true).ok());
  DoubleNetwork reference = in_double(network);
  Eigen::MatrixXd inputs = trace.inputs().cast<double>();
  const auto again = [&] {
    const Eigen::MatrixXd error = testing_network::run(reference, inputs) - targets.cast<double>();
    return 0.5 * error.cwiseAbs2().cwiseProduct(weights.cast<double>()).sum() / 7;
  };
  EXPECT_NEAR(loss, again(), 1e-5);
  EXPECT_LT(relative_error(reference, gradients, again), 1e-5);
  const Eigen::MatrixXf by_inputs = trace.input_gradient;
  EXPECT_LT(relative_error(inputs.data(), by_inputs.data(), by_inputs.size(), again), 1e-5);
}

TEST(Adam, TenStepsAgreeWithTheFormulaInDouble) {
  Random random(5);
  DenseNetwork network({3, 37}, 1);
  Eigen::MatrixXd value = network.layers()[0].weights.cast<double>();
  Eigen::MatrixXd first = Eigen::MatrixXd::Zero(3, 37);
  Eigen::MatrixXd second = first;
  Adam adam({.learning_rate = 0.01f, .weight_decay = 0.1f});
  for (int step = 1; step <= 10; ++step) {
    const std::vector<DenseLayer> gradients = {{random_matrix(random, 3, 37), Eigen::VectorXf::Zero(37)}};
    adam.step(network, gradients);
    const Eigen::MatrixXd g = gradients[0].weights.cast<double>();
    first = 0.9 * first + 0.1 * g;
    second = 0.999 * second + 0.001 * g.cwiseAbs2();
    const Eigen::ArrayXXd corrected = first.array() / (1 - std::pow(0.9, step));
    const Eigen::ArrayXXd root = (second.array() / (1 - std::pow(0.999, step))).sqrt() + 1e-8;
    value.array() -= 0.01 * (corrected / root + 0.1 * value.array());
  }
  EXPECT_LT((network.layers()[0].weights.cast<double>() - value).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_EQ(network.layers()[0].bias.cwiseAbs().maxCoeff(), 0);
}

// 8 columns of 2 hidden causes and noise of a known size; a fifth absent.
struct MaskedWorld {
  RowMatrixF clean, x, mask;
};
MaskedWorld world(Eigen::Index rows, double noise, uint64_t seed) {
  Random random(seed);
  Random fixed(99);
  const RowMatrixF directions = random_matrix(fixed, 2, 8);
  MaskedWorld made;
  made.clean = random_matrix(random, rows, 2) * directions;
  made.x = made.clean + static_cast<float>(noise) * random_matrix(random, rows, 8);
  made.mask = random_mask(random, rows, 8, 0.2);
  return made;
}

TEST(Vae, FindsTheCausesAndTheSizeOfTheNoise) {
  const MaskedWorld made = world(1500, 0.3, 1);
  const RowMatrixF inputs = *masked_inputs(made.x, made.mask);
  Vae vae({.columns = 8, .hidden = {48}, .latent = 4}, 5);
  Adam encoder({.learning_rate = 3e-3f});
  Adam decoder({.learning_rate = 3e-3f});
  VaePass pass;
  VaeGradients gradients;
  Random random(7);
  double sigma = 0;
  for (int epoch = 0; epoch < 60; ++epoch) {
    sigma = 0;
    for (Eigen::Index from = 0; from < 1500; from += 100) {
      pass.encoder.inputs() = inputs.middleRows(from, 100);
      pass.draw_noise(100, 4, random);
      const auto loss = vae.forward(pass);
      ASSERT_TRUE(loss);
      sigma += loss->sigma / 15;
      ASSERT_TRUE(vae.backward(pass, 1, gradients).ok());
      encoder.step(vae.encoder(), gradients.encoder);
      decoder.step(vae.decoder(), gradients.decoder);
    }
  }
  EXPECT_NEAR(sigma, 0.3, 0.06);
  // Fresh rows: what was absent is filled in from what is present, far better than by the mean, 0.
  const MaskedWorld fresh = world(500, 0.3, 2);
  pass.encoder.inputs() = *masked_inputs(fresh.x, fresh.mask);
  pass.noise = RowMatrixF::Zero(500, 4);
  ASSERT_TRUE(vae.forward(pass));
  const RowMatrixF absent = RowMatrixF::Ones(500, 8) - fresh.mask;
  const auto error = (pass.decoder.output() - fresh.clean).cwiseProduct(absent).squaredNorm();
  EXPECT_LT(error, 0.25f * fresh.clean.cwiseProduct(absent).squaredNorm());
}

}  // namespace
}  // namespace perfcast
