#include "ai/bench/saturation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace perfcast::ai {
namespace {

constexpr double kNs = 1e9;

// Arrivals at random to one server that takes the same time for each.
LoadResult queue_of(double rate_per_s, double service_s, double seconds_s, uint64_t seed) {
  LoadResult result;
  result.settings.scenario = LoadScenario::kServer;
  Random random(seed);
  double at_s = 0, free_s = 0;
  while (at_s < seconds_s) {
    free_s = std::max(free_s, at_s) + service_s;
    result.due_ns.push_back(static_cast<int64_t>(at_s * kNs));
    result.latencies_ns.push_back(static_cast<int64_t>((free_s - at_s) * kNs));
    result.last_due_ns = result.due_ns.back();
    at_s += -std::log(1 - random.uniform()) / rate_per_s;
  }
  return result;
}

TEST(Saturation, AQueueGrowsAboveTheCapacityAlone) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const double load : {0.3, 0.6, 0.8}) {
      const auto trend = queue_trend(queue_of(20 * load, 0.05, 20, seed));
      ASSERT_TRUE(trend);
      EXPECT_FALSE(trend->grows()) << load << " " << seed << " " << trend->early << " " << trend->late;
    }
    for (const double load : {1.3, 2.0, 3.0}) {
      const auto trend = queue_trend(queue_of(20 * load, 0.05, 20, seed));
      ASSERT_TRUE(trend);
      EXPECT_TRUE(trend->grows()) << load << " " << seed << " " << trend->early << " " << trend->late;
      EXPECT_NEAR(trend->behind_share, 1 - 1 / load, 0.15);
    }
  }
}

TEST(Saturation, ManyAtOnceAreNoQueue) {
  // 100 requests/s that take 2 s each, as many at once as come.
  LoadResult result;
  result.settings.scenario = LoadScenario::kServer;
  for (int64_t i = 0; i < 2000; ++i) {
    result.due_ns.push_back(i * 10'000'000);
    result.latencies_ns.push_back(2'000'000'000);
  }
  result.last_due_ns = result.due_ns.back();
  const auto trend = queue_trend(result);
  ASSERT_TRUE(trend);
  EXPECT_NEAR(trend->early, 200, 2);
  EXPECT_NEAR(trend->late, 200, 2);
  EXPECT_FALSE(trend->is_too_short);
  EXPECT_FALSE(trend->grows());
  EXPECT_NEAR(answers_per_s(result), 90, 0.2);
}

TEST(Saturation, ShortRunsSaySo) {
  LoadResult result;
  result.settings.scenario = LoadScenario::kServer;
  for (int64_t i = 0; i < 100; ++i) {
    result.due_ns.push_back(i * 10'000'000);
    result.latencies_ns.push_back(700'000'000);
  }
  result.last_due_ns = result.due_ns.back();
  const auto trend = queue_trend(result);
  ASSERT_TRUE(trend);
  EXPECT_TRUE(trend->is_too_short);
  EXPECT_FALSE(trend->grows());
  result.due_ns.resize(5);
  EXPECT_FALSE(queue_trend(result));
}

TEST(Saturation, ClientsThatAskOnceHaveARateToo) {
  LoadResult result;
  result.settings.scenario = LoadScenario::kConcurrency;
  result.settings.concurrency = 4;
  result.samples = 4;
  result.due_ns = {0, 1000, 2000, 3000};
  result.latencies_ns = {1'500'000'000, 1'500'000'000, 1'500'000'000, 2'000'000'000};
  result.last_issued_ns = 5000;
  result.end_ns = 2'000'000'000;
  EXPECT_DOUBLE_EQ(answers_per_s(result), 2);
  result.settings.concurrency = 2;  // two rounds: of the time in which requests came
  result.last_issued_ns = 1'600'000'000;
  EXPECT_DOUBLE_EQ(answers_per_s(result), 3 / 1.6);
}

TEST(Saturation, ThroughputGrowsWithTheLoadOrNot) {
  EXPECT_TRUE(has_grown(1, 10, 2, 19));
  EXPECT_TRUE(has_grown(1, 10, 2, 10.8));
  EXPECT_FALSE(has_grown(1, 10, 2, 10.6));  // 7% of a doubling
  EXPECT_FALSE(has_grown(1, 10, 2, 9));
  EXPECT_FALSE(has_grown(1, 10, 2, 0));
  EXPECT_TRUE(has_grown(1, 0, 2, 0));
}

}  // namespace
}  // namespace perfcast::ai
