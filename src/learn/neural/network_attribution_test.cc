#include "learn/neural/network_attribution.h"

#include <gmock/gmock.h>

#include "base/random.h"

namespace perfcast {
namespace {

Eigen::RowVectorXd random_row(Random& random, Eigen::Index size) {
  Eigen::RowVectorXd row(size);
  for (double& value : row) value = random.normal();
  return row;
}

// One input, one rectifier that opens half way: y = 2 max(x - 1, 0) + 3 between 0 and 2.
TEST(NetworkAttribution, ARectifierCountsForThePartOfTheLineWhereItIsOpen) {
  PlainNetwork network(2);
  network[0] = {Eigen::MatrixXd::Ones(1, 1), Eigen::RowVectorXd::Constant(1, -1)};
  network[1] = {Eigen::MatrixXd::Constant(1, 1, 2), Eigen::RowVectorXd::Constant(1, 3)};
  const Eigen::RowVectorXd from = Eigen::RowVectorXd::Zero(1), to = Eigen::RowVectorXd::Constant(1, 2);
  EXPECT_DOUBLE_EQ(value_of(network, to)(0), 5);
  EXPECT_DOUBLE_EQ(mean_slopes(network, from, to)(0, 0), 1);
  const Eigen::MatrixXd log = integrated_slopes(
      [&](const Eigen::RowVectorXd& a, const Eigen::RowVectorXd& b) { return mean_slopes(network, a, b); }, to, from,
      1e-9);
  EXPECT_DOUBLE_EQ(log(0, 0), 2);
}

// Against slopes at very many points of the line, which are right to what the kinks leave.
TEST(NetworkAttribution, TendsToTheIntegralAndSumsExactly) {
  Random random(4);
  PlainNetwork network;
  for (const auto& [inputs, outputs] : {std::pair{6, 20}, {20, 20}, {20, 3}}) {  // few outputs: from the back
    PlainLayer layer{Eigen::MatrixXd(inputs, outputs), random_row(random, outputs)};
    for (double& weight : layer.weights.reshaped()) weight = 0.4 * random.normal();
    network.push_back(layer);
  }
  const Eigen::RowVectorXd own = random_row(random, 6), reference = random_row(random, 6);
  const auto slopes = [&](const Eigen::RowVectorXd& a, const Eigen::RowVectorXd& b) {
    return mean_slopes(network, a, b);
  };
  const Eigen::MatrixXd log = integrated_slopes(slopes, own, reference, 1e-5);
  const Eigen::RowVectorXd change = value_of(network, own) - value_of(network, reference);
  EXPECT_LT((log.colwise().sum() - change).cwiseAbs().maxCoeff(), 1e-13);
  Eigen::MatrixXd integral = Eigen::MatrixXd::Zero(6, 3);
  constexpr int kSteps = 20000;
  for (int step = 0; step < kSteps; ++step) {
    const Eigen::RowVectorXd at = reference + (step + 0.5) / kSteps * (own - reference);
    integral += mean_slopes(network, at, at) / kSteps;
  }
  integral = ((own - reference).transpose().asDiagonal() * integral).eval();
  EXPECT_LT((log - integral).cwiseAbs().maxCoeff(), 2e-3);
}

// Many outputs are reached from the front; the slopes are the same as of each output alone.
TEST(NetworkAttribution, IsTheSameFromBothEnds) {
  Random random(5);
  PlainNetwork network;
  for (const auto& [inputs, outputs] : {std::pair{2, 9}, {9, 7}, {7, 5}}) {
    PlainLayer layer{Eigen::MatrixXd(inputs, outputs), random_row(random, outputs)};
    for (double& weight : layer.weights.reshaped()) weight = random.normal();
    network.push_back(layer);
  }
  const Eigen::RowVectorXd own = random_row(random, 2), reference = random_row(random, 2);
  const Eigen::MatrixXd all = mean_slopes(network, reference, own);
  for (Eigen::Index output = 0; output < 5; ++output) {
    PlainNetwork one = network;
    one.back() = {network.back().weights.col(output), network.back().bias.segment(output, 1)};
    EXPECT_TRUE(mean_slopes(one, reference, own).isApprox(all.col(output), 1e-12));
  }
}

}  // namespace
}  // namespace perfcast
