#include "learn/tree/tree_shapley.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace perfcast {
namespace {

struct TestNode {
  int32_t feature = -1;
  double value = 0;  // a threshold, or a leaf's
  int32_t left = 0, right = 0;
};
using TestTree = std::vector<TestNode>;

double forecast_of(const TestTree& tree, const std::vector<double>& row) {
  int32_t at = 0;
  while (tree[static_cast<size_t>(at)].feature >= 0) {
    const TestNode& node = tree[static_cast<size_t>(at)];
    at = row[static_cast<size_t>(node.feature)] < node.value ? node.left : node.right;
  }
  return tree[static_cast<size_t>(at)].value;
}

std::vector<double> shapley_of(const TestTree& tree, const std::vector<double>& own,
                               const std::vector<double>& reference) {
  std::vector<double> result(own.size(), 0);
  const auto child = [](const TestNode& node, const std::vector<double>& row) {
    return row[static_cast<size_t>(node.feature)] < node.value ? node.left : node.right;
  };
  const bool is_tree = shapley_of_tree(
      0, static_cast<int64_t>(own.size()), static_cast<int64_t>(tree.size()),
      [&](int32_t at) {
        const TestNode& node = tree[static_cast<size_t>(at)];
        return node.feature < 0 ? TreeStep{} : TreeStep{node.feature, child(node, own), child(node, reference)};
      },
      [&](int32_t feature, double share, int32_t leaf) {
        result[static_cast<size_t>(feature)] += share * tree[static_cast<size_t>(leaf)].value;
      });
  EXPECT_TRUE(is_tree);
  return result;
}

// By the definition: the mean over all orders in which inputs change from the reference's value to the program's.
std::vector<double> by_all_orders(const TestTree& tree, const std::vector<double>& own,
                                  const std::vector<double>& reference) {
  std::vector<size_t> order(own.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> result(own.size(), 0);
  double orders = 0;
  do {
    std::vector<double> row = reference;
    double before = forecast_of(tree, row);
    for (const size_t f : order) {
      row[f] = own[f];
      const double after = forecast_of(tree, row);
      result[f] += after - before;
      before = after;
    }
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  for (double& value : result) value /= orders;
  return result;
}

// Splits may test an input again on the same path, also where it can no longer go both ways.
TestTree random_tree(Random& random, uint64_t features, int splits) {
  TestTree tree = {{-1, random.normal()}};
  std::vector<size_t> leaves = {0};
  for (int split = 0; split < splits; ++split) {
    const size_t chosen = random.below(leaves.size()), leaf = leaves[chosen];
    const auto left = static_cast<int32_t>(tree.size());
    tree[leaf] = {static_cast<int32_t>(random.below(features)), random.uniform(-1, 1), left, left + 1};
    tree.push_back({-1, random.normal()});
    tree.push_back({-1, random.normal()});
    leaves[chosen] = static_cast<size_t>(left);
    leaves.push_back(static_cast<size_t>(left) + 1);
  }
  return tree;
}

TEST(TreeShapley, OneSplitIsItsInputsAlone) {
  const TestTree tree = {{1, 0, 1, 2}, {-1, 3}, {-1, 5}};
  EXPECT_EQ(shapley_of(tree, {9, 1, 9}, {8, -1, 8}), (std::vector<double>{0, 2, 0}));
  EXPECT_EQ(shapley_of(tree, {9, 1, 9}, {8, 1, 8}), (std::vector<double>{0, 0, 0}));
}

// 1 where both inputs are above 0: either alone does nothing, and each has half.
TEST(TreeShapley, SharesAConjunctionEvenly) {
  const TestTree tree = {{0, 0, 1, 2}, {-1, 0}, {1, 0, 3, 4}, {-1, 0}, {-1, 1}};
  EXPECT_EQ(shapley_of(tree, {1, 1}, {-1, -1}), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(shapley_of(tree, {1, 1}, {1, -1}), (std::vector<double>{0, 1}));
}

TEST(TreeShapley, IsTheMeanOverAllOrders) {
  Random random(11);
  for (int trial = 0; trial < 200; ++trial) {
    const uint64_t features = 2 + random.below(5);
    const TestTree tree = random_tree(random, features, static_cast<int>(1 + random.below(25)));
    std::vector<double> own(features), reference(features);
    for (double& value : own) value = random.uniform(-1, 1);
    for (double& value : reference) value = random.uniform(-1, 1);
    const std::vector<double> found = shapley_of(tree, own, reference);
    const std::vector<double> defined = by_all_orders(tree, own, reference);
    for (size_t f = 0; f < features; ++f) ASSERT_NEAR(found[f], defined[f], 1e-13) << trial;
    EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), forecast_of(tree, own) - forecast_of(tree, reference),
                1e-13);
  }
}

// A file may say anything: nodes that several lead to would be walked without end.
TEST(TreeShapley, GivesUpOnWhatIsNoTree) {
  TestTree braid;
  for (int32_t level = 0; level < 40; ++level) braid.push_back({level, 0, level + 1, level + 1});
  braid.push_back({-1, 1});
  int64_t met = 0;
  const bool is_tree = shapley_of_tree(
      0, 40, 41,
      [&](int32_t at) {
        ++met;
        // Two ways to the same: as two nodes would be that differ in nothing but their place.
        const TestNode& node = braid[static_cast<size_t>(at)];
        return node.feature < 0 ? TreeStep{} : TreeStep{node.feature, std::min(at + 1, 40), std::min(at + 2, 40)};
      },
      [](int32_t, double, int32_t) {});
  EXPECT_FALSE(is_tree);
  EXPECT_LE(met, 41);
}

TEST(OrderChance, IsThatOfDrawnOrders) {
  EXPECT_DOUBLE_EQ(order_chance(1, 0), 1);
  EXPECT_DOUBLE_EQ(order_chance(1, 1), 0.5);
  EXPECT_DOUBLE_EQ(order_chance(2, 0), 0.5);
  EXPECT_DOUBLE_EQ(order_chance(2, 1), 1.0 / 6);
  EXPECT_DOUBLE_EQ(order_chance(1, 2), 1.0 / 3);
  EXPECT_DOUBLE_EQ(order_chance(3, 4), 2.0 * 24 / 5040);
}

}  // namespace
}  // namespace perfcast
