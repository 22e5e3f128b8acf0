#include "ai/load/load_summary.h"

#include <gtest/gtest.h>

#include <numeric>

namespace perfcast::ai {
namespace {

LoadResult result_of(LoadScenario scenario, int64_t queries) {
  LoadResult result;
  result.settings.scenario = scenario;
  result.queries = result.samples = result.answered = queries;
  result.latencies_ns.resize(static_cast<size_t>(queries));
  std::iota(result.latencies_ns.begin(), result.latencies_ns.end(), 1);
  result.last_due_ns = 1'000'000'000;
  result.last_issued_ns = 2'000'000'000;
  result.last_query_answered_ns = 4'000'000'000;
  result.end_ns = 5'000'000'000;
  return result;
}

TEST(LoadSummary, RatesAreTheFieldsOwn) {
  EXPECT_DOUBLE_EQ(summarise(result_of(LoadScenario::kSingleStream, 101)).queries_per_s, 50);
  const LoadSummary server = summarise(result_of(LoadScenario::kServer, 101));
  EXPECT_DOUBLE_EQ(server.queries_per_s, 25);
  EXPECT_DOUBLE_EQ(server.scheduled_per_s, 100);
  LoadResult offline = result_of(LoadScenario::kOffline, 1);
  offline.samples = offline.answered = 100;
  EXPECT_DOUBLE_EQ(summarise(offline).samples_per_s, 20);
  EXPECT_DOUBLE_EQ(summarise(offline).queries_per_s, 0.2);
}

TEST(LoadSummary, SamplesPerSecondFollowFromQueries) {
  LoadResult multi = result_of(LoadScenario::kMultiStream, 101);
  multi.samples = multi.answered = 808;
  EXPECT_DOUBLE_EQ(summarise(multi).samples_per_s, 8 * summarise(multi).queries_per_s);
  LoadResult server = result_of(LoadScenario::kServer, 101);
  EXPECT_DOUBLE_EQ(summarise(server).samples_per_s, summarise(server).queries_per_s);
  server.answered = 100;
  server.failed = 1;
  EXPECT_DOUBLE_EQ(summarise(server).samples_per_s, 25 * 100 / 101.0);
}

TEST(LoadSummary, SingleStreamClaimsWhatItsQueriesCarry) {
  EXPECT_FALSE(summarise(result_of(LoadScenario::kSingleStream, 63)).early_p90);
  const LoadSummary summary = summarise(result_of(LoadScenario::kSingleStream, 64));
  ASSERT_TRUE(summary.early_p90);
  EXPECT_EQ(summary.early_p90->latency_ns, 64);
  EXPECT_FALSE(summary.early_p99);
  EXPECT_EQ(summary.latency.p90, 58);
}

TEST(LoadSummary, MultiStreamIsJudgedByItsQueries) {
  LoadResult result = result_of(LoadScenario::kMultiStream, 16);
  result.query_latencies_ns = {20, 10};
  const LoadSummary summary = summarise(result);
  EXPECT_EQ(summary.latency.count, 2);
  EXPECT_EQ(summary.latency.max, 20);
  EXPECT_EQ(summary.sample_latency.count, 16);
}

TEST(LoadSummary, TimePerTokenHasBothDefinitions) {
  LoadResult result = result_of(LoadScenario::kServer, 2);
  result.settings.tokens = true;
  result.latencies_ns = {110, 1010};
  result.ttft_ns = {10, 10};
  result.answer_tokens = {11, 101};
  result.tpot_ns = {10, 10};
  EXPECT_EQ(summarise(result).tpot_pooled_ns, 10);
  result.latencies_ns = {110, 3010};
  result.tpot_ns = {10, 30};
  EXPECT_EQ(summarise(result).tpot.mean, 20);
  EXPECT_EQ(summarise(result).tpot_pooled_ns, 28);  // 3100 ns over 110 gaps
}

TEST(LoadSummary, NothingAnsweredHasNoRates) {
  LoadResult result;
  result.queries = result.samples = 3;
  const LoadSummary summary = summarise(result);
  EXPECT_EQ(summary.latency.count, 0);
  EXPECT_EQ(summary.queries_per_s, 0);
}

}  // namespace
}  // namespace perfcast::ai
