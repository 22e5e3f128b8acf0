#include "ai/results/published_result.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::ai {
namespace {

TEST(PublishedResult, IsComparedByItsScenariosOwnMetric) {
  PublishedResult result;
  result.samples_per_s = 100;
  result.mean_latency_s = 0.02;
  result.scenario = "Offline";
  EXPECT_EQ(result_rate_per_s(result), 100);
  result.scenario = "SingleStream";
  EXPECT_DOUBLE_EQ(result_rate_per_s(result), 50);
  result.p90_latency_s = 0.025;
  EXPECT_DOUBLE_EQ(result_rate_per_s(result), 40);
  result.scenario = "MultiStream";
  EXPECT_DOUBLE_EQ(result_rate_per_s(result), 400);  // 8 in 20 ms
  result.p99_latency_s = 0.04;
  EXPECT_DOUBLE_EQ(result_rate_per_s(result), 200);
  result.scenario = kTrainingScenario;
  EXPECT_TRUE(std::isnan(result_rate_per_s(result)));
  result.training_s = 50;
  EXPECT_DOUBLE_EQ(result_rate_per_s(result), 0.02);
}

TEST(PublishedResult, KnowsWhatGrowsWithAccelerators) {
  EXPECT_TRUE(scales_with_accelerators("Offline"));
  EXPECT_TRUE(scales_with_accelerators("Server"));
  EXPECT_TRUE(scales_with_accelerators(kTrainingScenario));
  EXPECT_FALSE(scales_with_accelerators("SingleStream"));
  EXPECT_FALSE(scales_with_accelerators("MultiStream"));
}

}  // namespace
}  // namespace perfcast::ai
