#include "ai/load/early_stopping.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace perfcast::ai {
namespace {

TEST(EarlyStopping, TakesAsManyQueriesAsThePublishedRule) {
  EXPECT_EQ(least_queries(0.90), 64);
  EXPECT_EQ(least_queries(0.99), 662);
  EXPECT_EQ(least_queries(0.999), 6636);
}

TEST(EarlyStopping, WithoutAnyOverTheLatencyItIsAPower) {
  // p^h <= 0.01.
  EXPECT_EQ(least_within(0, 0.90), 44);
  EXPECT_EQ(least_within(0, 0.99), 459);
  EXPECT_EQ(least_within(0, 0.999), 4603);
}

TEST(EarlyStopping, TheMostOverIsTheLargestThatIsAccepted) {
  EXPECT_EQ(most_over(43, 0.90), std::nullopt);
  EXPECT_EQ(most_over(44, 0.90), 0);
  EXPECT_EQ(most_over(63, 0.90), 0);
  EXPECT_EQ(most_over(64, 0.90), 1);
  for (const int64_t queries : {100, 1000, 24576, 1000000}) {
    const int64_t over = most_over(queries, 0.99).value_or(-1);
    if (over < 0) continue;
    EXPECT_LE(least_within(over, 0.99) + over, queries);
    EXPECT_GT(least_within(over + 1, 0.99) + over + 1, queries);
  }
}

TEST(EarlyStopping, ARunWithALimitNeedsEnoughWithinIt) {
  EXPECT_TRUE(stop_within(459, 0, 0.99).met);
  EXPECT_FALSE(stop_within(458, 0, 0.99).met);
  EXPECT_EQ(stop_within(458, 0, 0.99).missing, 1);
  EXPECT_TRUE(stop_within(662, 1, 0.99).met);
  EXPECT_FALSE(stop_within(661, 1, 0.99).met);
  EXPECT_EQ(stop_within(100, 100, 0.99).met, false);
}

TEST(EarlyStopping, AnEstimateDropsAllButOneOfWhatMayBeOver) {
  std::vector<int64_t> latencies(63);
  std::iota(latencies.begin(), latencies.end(), 1);
  EXPECT_FALSE(early_estimate(latencies, 0.90));
  latencies.push_back(64);
  ASSERT_TRUE(early_estimate(latencies, 0.90));
  EXPECT_EQ(early_estimate(latencies, 0.90)->latency_ns, 64);
  EXPECT_EQ(early_estimate(latencies, 0.90)->dropped, 0);
  latencies.resize(1000);
  std::iota(latencies.begin(), latencies.end(), 1);
  const int64_t over = *most_over(1000, 0.90);
  EXPECT_EQ(early_estimate(latencies, 0.90)->latency_ns, 1000 - over + 1);
  EXPECT_EQ(early_estimate(latencies, 0.90)->dropped, over - 1);
}

}  // namespace
}  // namespace perfcast::ai
