#include "learn/weightless/table_booster.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace perfcast {
namespace {

struct World {
  std::vector<float> rows, targets;
};

// Two outputs: one of one input, one of a product of two, beside inputs that say nothing.
World world_of(size_t count, uint64_t seed) {
  Random random(seed);
  World world;
  for (size_t r = 0; r < count; ++r) {
    const double a = random.uniform(-1, 1), b = random.uniform(-1, 1);
    for (const double value : {random.uniform(-1, 1), a, random.uniform(-1, 1), b, 7.0})
      world.rows.push_back(static_cast<float>(value));
    world.targets.push_back(static_cast<float>(3 * a + 100));
    world.targets.push_back(static_cast<float>(2 * a * b));
  }
  return world;
}

// Share of the variance that is left.
double left_of(const LutNetwork& network, const World& world, size_t output, double mean) {
  double error = 0, spread = 0;
  for (size_t r = 0; r < world.targets.size() / 2; ++r) {
    const auto target = static_cast<double>(world.targets[2 * r + output]);
    const double value = network.values(std::span(world.rows).subspan(5 * r, 5))[output];
    error += (value - target) * (value - target);
    spread += (target - mean) * (target - mean);
  }
  return error / spread;
}

TEST(TableBooster, OneTableHoldsTheMeansOfItsAddresses) {
  const std::vector<float> rows = {0, 0, 1, 1, 2, 2}, targets = {1, 3, 10, 12, 10, 12};
  TableBoostOptions options;
  options.encoding = ThermometerKind::kLinear;
  options.levels = 2;
  options.tables = 1;
  options.arity = 1;
  options.learning_rate = options.row_share = options.input_share = 1;
  options.ridge = 0;
  const auto network = boost_tables({rows, 1}, targets, 1, options);
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(network->luts(), 1U);
  EXPECT_NEAR(network->values(std::vector<float>{0})[0], 2, 1e-3);
  EXPECT_NEAR(network->values(std::vector<float>{1})[0], 11, 1e-3);
  EXPECT_NEAR(network->values(std::vector<float>{9})[0], 11, 1e-3);
}

TEST(TableBooster, WeighsRows) {
  const std::vector<float> rows = {0, 0, 1, 1}, targets = {0, 4, 8, 8}, weights = {3, 1, 2, 2};
  TableBoostOptions options;
  options.encoding = ThermometerKind::kLinear;
  options.levels = 1;
  options.tables = 1;
  options.arity = 1;
  options.learning_rate = options.row_share = options.input_share = 1;
  options.ridge = 0;
  const auto network = boost_tables({rows, 1, weights}, targets, 1, options);
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_NEAR(network->values(std::vector<float>{0})[0], 1, 1e-3);
  EXPECT_NEAR(network->values(std::vector<float>{1})[0], 8, 1e-3);
}

TEST(TableBooster, LearnsSumsAndProducts) {
  const World seen = world_of(800, 1), unseen = world_of(400, 2);
  const auto network = boost_tables({seen.rows, 5}, seen.targets, 2, {});
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_LT(left_of(*network, unseen, 0, 100), 0.02);
  EXPECT_LT(left_of(*network, unseen, 1, 0), 0.15);
  EXPECT_TRUE(network->head().by_address);
  EXPECT_TRUE(network->encoder().thresholds(4).empty());  // never varies
}

TEST(TableBooster, ThreadsDoNotChooseTheNetwork) {
  const World seen = world_of(200, 3);
  TableBoostOptions options;
  options.tables = 40;
  const auto one = boost_tables({seen.rows, 5}, seen.targets, 2, options);
  options.threads = 3;
  const auto three = boost_tables({seen.rows, 5}, seen.targets, 2, options);
  options.seed = 2;
  const auto other = boost_tables({seen.rows, 5}, seen.targets, 2, options);
  ASSERT_TRUE(one && three && other);
  EXPECT_EQ(one->to_bytes(), three->to_bytes());
  EXPECT_NE(one->to_bytes(), other->to_bytes());
}

TEST(TableBooster, SaysWhatCanNotBe) {
  const std::vector<float> rows = {0, 1, 2}, targets = {1, 2, 3}, short_targets = {1, 2};
  const auto code = [&](const std::vector<float>& of, const TableBoostOptions& options) {
    const auto made = boost_tables({rows, 1}, of, 1, options);
    return made ? std::string() : made.error().code;
  };
  EXPECT_EQ(code(targets, {}), "");
  EXPECT_EQ(code(short_targets, {}), "bad-input");
  EXPECT_EQ(code(targets, {.tables = 0}), "bad-config");
  EXPECT_EQ(code(targets, {.arity = 7}), "bad-config");
  EXPECT_EQ(code(targets, {.learning_rate = 0}), "bad-config");
  EXPECT_EQ(code(targets, {.ridge = -1}), "bad-config");
  const std::vector<float> many(900, 1);
  const auto large = boost_tables({rows, 1}, many, 300, {.tables = 65536, .arity = 6});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().message, "65536 tables of 64 entries (tables, arity) for 300 outputs");
  const auto flat = boost_tables({std::vector<float>{5, 5, 5}, 1}, targets, 1, {});
  ASSERT_FALSE(flat);
  EXPECT_EQ(flat.error().code, "no-variation");
}

}  // namespace
}  // namespace perfcast
