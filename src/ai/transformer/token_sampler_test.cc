#include "ai/transformer/token_sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace perfcast::ai {
namespace {

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

TEST(TokenSampler, WithoutTemperatureTheLikeliestAndOfEqualsTheFirst) {
  TokenSampler sampler({});
  EXPECT_EQ(sampler.choose(std::vector<float>{1, 3, 3, 2}), 1);
  EXPECT_EQ(sampler.choose(std::vector<float>{kNotANumber, -3, -2}), 2);
}

TEST(TokenSampler, SharesAreThoseOfTheLogits) {
  const std::vector<float> logits = {0, std::log(2.0f), std::log(5.0f), kNotANumber};
  for (const auto& [temperature, power] : {std::pair(1.0, 1.0), std::pair(0.5, 2.0)}) {
    TokenSampler sampler({temperature, 0, 1});
    std::vector<double> counts(4, 0);
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i) counts[static_cast<size_t>(sampler.choose(logits))] += 1.0 / kDraws;
    const double sum = 1 + std::pow(2, power) + std::pow(5, power);
    EXPECT_NEAR(counts[0], 1 / sum, 0.015);
    EXPECT_NEAR(counts[1], std::pow(2, power) / sum, 0.015);
    EXPECT_EQ(counts[3], 0);
  }
}

TEST(TokenSampler, ASeedIsAnAnswerAndTopLeavesTheRestOut) {
  const std::vector<float> logits = {1, 1.5f, 0.5f, 1.2f, 1};
  TokenSampler a({1, 2, 9}), b({1, 2, 9});
  bool first = false, second = false;
  for (int i = 0; i < 100; ++i) {
    const int32_t token = a.choose(logits);
    EXPECT_EQ(token, b.choose(logits));
    EXPECT_TRUE(token == 1 || token == 3);
    first = first || token == 1;
    second = second || token == 3;
  }
  EXPECT_TRUE(first && second);
}

}  // namespace
}  // namespace perfcast::ai
