#include "learn/neural/dense_network.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/random.h"
#include "learn/neural/dense_kernels.h"
#include "learn/neural/test_matrices.h"

namespace perfcast {
namespace {

using testing_network::random_matrix;

TEST(Multiply, AllTranspositions) {
  Random random(1);
  const RowMatrixF a = random_matrix(random, 3, 4);
  const RowMatrixF b = random_matrix(random, 4, 5);
  const RowMatrixF a_transposed = a.transpose();
  const RowMatrixF b_transposed = b.transpose();
  const RowMatrixF expected = a * b;
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      RowMatrixF c(3, 5);
      const Product product{.transpose_a = transpose_a, .transpose_b = transpose_b, .m = 3, .n = 5, .k = 4};
      ASSERT_TRUE(
          multiply(product, (transpose_a ? a_transposed : a).data(), (transpose_b ? b_transposed : b).data(), c.data())
              .ok());
      EXPECT_LT((c - expected).cwiseAbs().maxCoeff(), 1e-5f);
    }
  }
  EXPECT_TRUE(multiply({.m = 0, .n = 5, .k = 4}, a.data(), b.data(), nullptr).ok());
}

TEST(Pack, KeepsEachWeightToHalfAStepOfItsInput) {
  Random random(8);
  for (const int64_t outputs : {1, 3, 4, 37, 64, 65, 130}) {
    RowMatrixF weights = random_matrix(random, 6, outputs);
    weights.row(2).setZero();
    const PackedWeights packed = pack({weights.data(), static_cast<size_t>(weights.size())}, 6, outputs);
    EXPECT_EQ(packed.words.size(), static_cast<size_t>(6 * packed.quarter()));
    for (Eigen::Index i = 0; i < 6; ++i) {
      const float step = weights.row(i).cwiseAbs().maxCoeff() / 127;
      for (Eigen::Index j = 0; j < outputs; ++j) {
        // The largest itself has no room above it for what lies in the bytes below.
        EXPECT_NEAR(packed.weight(i, j), weights(i, j), 1.01f * step) << i << " " << j;
        if (std::abs(weights(i, j)) < 126 * step) {
          EXPECT_NEAR(packed.weight(i, j), weights(i, j), 0.501f * step);
        }
      }
    }
  }
}

TEST(AddRowProduct, SkipsZerosAndAddsTheRest) {
  Random random(2);
  for (const int64_t inputs : {1, 3, 4, 7, 64}) {
    std::vector<float> input(static_cast<size_t>(inputs));
    for (float& value : input) value = random.uniform() < 0.4 ? 0.0f : static_cast<float>(random.normal());
    const RowMatrixF full = random_matrix(random, inputs, 37);
    const PackedWeights weights = pack({full.data(), static_cast<size_t>(full.size())}, inputs, 37);
    std::vector<float> output(static_cast<size_t>(4 * weights.quarter()), 1.0f);
    add_row_product(input, weights, output);
    for (int64_t j = 0; j < 37; ++j) {
      double expected = 1;
      for (int64_t i = 0; i < inputs; ++i) {
        expected += static_cast<double>(input[static_cast<size_t>(i)]) * static_cast<double>(weights.weight(i, j));
      }
      EXPECT_NEAR(output[static_cast<size_t>(j)], expected, 1e-4);
    }
  }
}

TEST(DenseNetwork, GradientAgreesWithFiniteDifferences) {
  Random random(3);
  DenseNetwork network({4, 6, 5, 3}, 7);
  for (DenseLayer& layer : network.layers()) layer.bias.setConstant(0.1f);
  TrainingBatch batch{random_matrix(random, 8, 4), random_matrix(random, 8, 3), random_matrix(random, 8, 3).cwiseAbs()};
  batch.weights(2, 1) = 0;
  std::vector<DenseLayer> gradients;
  std::vector<DenseLayer> ignored;
  ASSERT_TRUE(network.gradient(batch, gradients));
  const float step = 5e-3f;
  const double centre = *network.gradient(batch, ignored);
  int compared = 0;
  int kinked = 0;
  const auto compare = [&](float& value, float gradient) {
    const float before = value;
    value = before + step;
    const double above = (*network.gradient(batch, ignored) - centre) / static_cast<double>(step);
    value = before - step;
    const double below = (centre - *network.gradient(batch, ignored)) / static_cast<double>(step);
    value = before;
    // A unit that switches on or off within a step has two slopes there.
    if (std::abs(above - below) > 4e-3) {
      ++kinked;
      return;
    }
    ++compared;
    EXPECT_NEAR((above + below) / 2, static_cast<double>(gradient), 2e-3);
  };
  for (size_t i = 0; i < 3; ++i) {
    DenseLayer& layer = network.layers()[i];
    for (Eigen::Index w = 0; w < layer.weights.size(); ++w) {
      compare(layer.weights.data()[w], gradients[i].weights.data()[w]);
    }
    for (Eigen::Index c = 0; c < layer.bias.size(); ++c) compare(layer.bias(c), gradients[i].bias(c));
    EXPECT_GT(gradients[i].weights.cwiseAbs().maxCoeff(), 1e-3f) << "layer " << i;
  }
  EXPECT_GT(compared, 2 * kinked);
}

TEST(DenseNetwork, WhatWeighsNothingTeachesNothing) {
  Random random(4);
  DenseNetwork network({3, 4, 2}, 1);
  TrainingBatch batch{random_matrix(random, 5, 3), random_matrix(random, 5, 2), RowMatrixF::Zero(5, 2)};
  std::vector<DenseLayer> gradients;
  EXPECT_EQ(*network.gradient(batch, gradients), 0);
  EXPECT_EQ(gradients[0].weights.cwiseAbs().maxCoeff(), 0);
}

TEST(Adam, FirstStepMovesEveryWeightByTheLearningRate) {
  DenseNetwork network({2, 2}, 1);
  const RowMatrixF before = network.layers()[0].weights;
  std::vector<DenseLayer> gradients(1);
  gradients[0].weights = RowMatrixF::Constant(2, 2, -3.0f);
  gradients[0].bias = Eigen::VectorXf::Constant(2, 0.5f);
  Adam adam({.learning_rate = 0.01f});
  adam.step(network, gradients);
  EXPECT_LT((network.layers()[0].weights - before - RowMatrixF::Constant(2, 2, 0.01f)).cwiseAbs().maxCoeff(), 1e-6f);
  EXPECT_NEAR(network.layers()[0].bias(0), -0.01f, 1e-6f);
}

TEST(Adam, LearnsALinearMap) {
  use_threads(1);
  Random random(5);
  TrainingBatch batch;
  batch.inputs = random_matrix(random, 64, 3);
  RowMatrixF map(3, 2);
  map << 1, -1, 0.5f, 2, 0, 1;
  batch.targets = batch.inputs * map;
  batch.weights = RowMatrixF::Ones(64, 2);
  DenseNetwork network({3, 32, 2}, 1);
  Adam adam({.learning_rate = 0.01f});
  std::vector<DenseLayer> gradients;
  const double before = *network.gradient(batch, gradients);
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(network.gradient(batch, gradients));
    adam.step(network, gradients);
  }
  EXPECT_LT(*network.gradient(batch, gradients), before / 200);
}

TEST(PackedNetwork, FollowsTheNetworkToTheWeightsPrecision) {
  Random random(6);
  const DenseNetwork network({10, 48, 48, 5}, 2);
  const RowMatrixF inputs = random_matrix(random, 4, 10);
  const auto exact = network.forward(inputs);
  ASSERT_TRUE(exact);
  const PackedNetwork packed(network);
  EXPECT_EQ(packed.inputs(), 10);
  EXPECT_EQ(packed.outputs(), 5);
  std::vector<float> output(5);
  for (Eigen::Index r = 0; r < 4; ++r) {
    packed.predict({inputs.data() + r * 10, 10}, output);
    for (Eigen::Index j = 0; j < 5; ++j) EXPECT_NEAR(output[static_cast<size_t>(j)], (*exact)(r, j), 0.02);
  }
}

TEST(PackedNetwork, RefusesLayersThatDoNotFit) {
  const auto layer = [](int64_t inputs, int64_t outputs) {
    const std::vector<float> weights(static_cast<size_t>(inputs * outputs), 1.0f);
    return PackedNetwork::Layer{pack(weights, inputs, outputs), std::vector<float>(static_cast<size_t>(outputs))};
  };
  PackedNetwork packed;
  EXPECT_TRUE(packed.append(layer(3, 2)).ok());
  EXPECT_FALSE(packed.append(layer(3, 2)).ok());
  EXPECT_FALSE(packed.append(PackedNetwork::Layer{}).ok());
  PackedNetwork::Layer shorter = layer(2, 2);
  shorter.weights.words.pop_back();
  EXPECT_FALSE(packed.append(shorter).ok());
  EXPECT_TRUE(packed.append(layer(2, 4)).ok());
  EXPECT_EQ(packed.outputs(), 4);
}

}  // namespace
}  // namespace perfcast
