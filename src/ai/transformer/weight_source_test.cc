#include "ai/transformer/weight_source.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace perfcast::ai {
namespace {

TEST(RandomWeights, AreOfTheirPlaceAloneAndOfVarianceOneOverInputs) {
  const RandomWeights weights(8, 5), same(8, 5), other(8, 6);
  std::vector<float> row(10001), again(10001), another(10001);
  ASSERT_TRUE(weights.row(WeightPart::kGate, 3, 17, row));
  ASSERT_TRUE(same.row(WeightPart::kGate, 3, 17, again));
  EXPECT_EQ(row, again);
  for (const auto& [source, part, layer, index] :
       {std::tuple(&other, WeightPart::kGate, 3, 17), std::tuple(&weights, WeightPart::kUp, 3, 17),
        std::tuple(&weights, WeightPart::kGate, 4, 17), std::tuple(&weights, WeightPart::kGate, 3, 18)}) {
    ASSERT_TRUE(source->row(part, layer, index, another));
    EXPECT_NE(row, another);
  }
  const double squares = std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
  EXPECT_NEAR(squares, 1, 0.05);
  ASSERT_TRUE(weights.row(WeightPart::kDown, 0, 0, row));
  EXPECT_NEAR(std::inner_product(row.begin(), row.end(), row.begin(), 0.0), 1.0 / 16, 0.004);
  ASSERT_TRUE(weights.row(WeightPart::kFinalNorm, 0, 0, row));
  EXPECT_EQ(row, std::vector<float>(10001, 1.0f));
}

}  // namespace
}  // namespace perfcast::ai
