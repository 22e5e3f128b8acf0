#include "ai/latency/model/tile_choice.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace perfcast::ai {
namespace {

TEST(TileChoice, FeaturesOfAShape) {
  const ChoiceFeatures f = choice_features({2, 64, 8, 128, true}, 4);
  EXPECT_DOUBLE_EQ(f[0], std::log(64));
  EXPECT_DOUBLE_EQ(f[1], std::log(8));
  EXPECT_DOUBLE_EQ(f[2], std::log(128));
  EXPECT_DOUBLE_EQ(f[3], std::log(2));
  EXPECT_EQ(f[4], 1);
  EXPECT_EQ(f[5], 1);
  // The tile of 128 x 128 is half empty; of 128 x 64 there is exactly one a product.
  EXPECT_DOUBLE_EQ(f[6], std::log(2.0 / 4));
  EXPECT_DOUBLE_EQ(f[7], 2);
  EXPECT_DOUBLE_EQ(f[9], 1);
  EXPECT_EQ(choice_features({1, 64, 9, 130, true}, 4)[4], 0);
}

TEST(TileChoice, LearnsARuleAndItsOdds) {
  Random random(1);
  std::vector<ChoiceFeatures> features;
  std::vector<int32_t> classes;
  for (int i = 0; i < 4000; ++i) {
    const ProductShape shape{1, std::exp(random.uniform(3, 9)), std::exp(random.uniform(3, 9)), 512, true};
    features.push_back(choice_features(shape, 80));
    const bool tall = shape.m > 1000;
    classes.push_back(tall ? 2 : random.uniform() < 0.25 ? 1 : 0);
  }
  const TileChoice choice = TileChoice::fit(features, classes, 200);
  ASSERT_TRUE(TileChoice::valid(choice.nodes(), choice.shares(), 3));
  const auto tall = choice.of(choice_features({1, 4000, 300, 512, true}, 80));
  ASSERT_EQ(tall.size(), 1u);
  EXPECT_EQ(tall[0].class_index, 2);
  EXPECT_EQ(tall[0].probability, 1);
  double sum = 0, ones = 0;
  for (const ClassShare& share : choice.of(choice_features({1, 100, 300, 512, true}, 80))) {
    sum += share.probability;
    if (share.class_index == 1) ones = share.probability;
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_NEAR(ones, 0.25, 0.12);
}

TEST(TileChoice, RefusesTreesThatDontEnd) {
  TileChoice::Node leaf;
  leaf.shares = 1;
  TileChoice::Node split;
  split.feature = 0;
  split.left = 1;
  split.right = 2;
  const std::vector<ClassShare> shares = {{0, 1.0}};
  EXPECT_TRUE(TileChoice::valid({split, leaf, leaf}, shares, 1));
  EXPECT_FALSE(TileChoice::valid({}, shares, 1));
  EXPECT_FALSE(TileChoice::valid({split, leaf}, shares, 1));
  EXPECT_FALSE(TileChoice::valid({leaf}, {{1, 1.0}}, 1));
  EXPECT_FALSE(TileChoice::valid({leaf}, {}, 1));
  split.left = 0;  // a circle
  EXPECT_FALSE(TileChoice::valid({split, leaf, leaf}, shares, 1));
}

}  // namespace
}  // namespace perfcast::ai
