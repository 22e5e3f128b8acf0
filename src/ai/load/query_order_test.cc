#include "ai/load/query_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace perfcast::ai {
namespace {

LoadSettings order_settings(LoadScenario scenario) {
  LoadSettings settings;
  settings.scenario = scenario;
  settings.loaded_samples = settings.total_samples = 1024;
  settings.min_queries = 100;
  settings.min_duration_s = 0.1;
  settings.target_qps = 1000;
  return settings;
}

struct Drawn {
  std::vector<std::vector<uint32_t>> queries;
  std::vector<int64_t> due_ns;
};

Drawn drawn(const LoadSettings& settings, size_t at_most = 100000) {
  QueryOrder order(settings, sample_sets(settings).front());
  Drawn all;
  std::vector<uint32_t> samples;
  int64_t due_ns = 0;
  while (all.queries.size() < at_most && order.next(samples, due_ns)) {
    all.queries.push_back(samples);
    all.due_ns.push_back(due_ns);
  }
  return all;
}

TEST(QueryOrder, AServerIsOverWhenItsTimeAndItsQueriesAre) {
  const Drawn all = drawn(order_settings(LoadScenario::kServer));
  EXPECT_GE(all.queries.size(), 100u);
  EXPECT_EQ(all.due_ns.front(), 0);
  EXPECT_TRUE(std::is_sorted(all.due_ns.begin(), all.due_ns.end()));
  EXPECT_GE(all.due_ns.back(), 100'000'000);
  if (all.queries.size() > 100) {
    EXPECT_LT(all.due_ns[all.due_ns.size() - 2], 100'000'000);
  }
}

TEST(QueryOrder, ArrivalsHaveTheRate) {
  LoadSettings settings = order_settings(LoadScenario::kServer);
  settings.min_queries = 100000;
  const Drawn all = drawn(settings, 200000);
  ASSERT_EQ(all.queries.size(), 100000u);
  EXPECT_NEAR(static_cast<double>(all.due_ns.back()) / 1e9, 100, 1);
}

// Made by the field's load generator (LoadGen 6.0.17, libstdc++ 12), which tools/compare-loadgen asks for more.
TEST(QueryOrder, ThePublishedSeedsMakeThePublishedOrder) {
  LoadSettings settings = order_settings(LoadScenario::kServer);
  settings.min_duration_s = 2;
  const Drawn server = drawn(settings);
  ASSERT_EQ(server.queries.size(), 2068u);
  const std::vector<int64_t> due_ns(server.due_ns.begin(), server.due_ns.begin() + 6);
  EXPECT_EQ(due_ns, (std::vector<int64_t>{0, 1843654, 2301577, 3587439, 4300433, 4686839}));
  const std::vector<uint32_t> first = {784, 618, 960, 248, 513, 635};
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(server.queries[i], std::vector<uint32_t>{first[i]});
  EXPECT_EQ(server.due_ns.back(), 2000392665);
  EXPECT_EQ(server.queries.back(), std::vector<uint32_t>{652});

  settings.equal_issue = true;
  EXPECT_EQ(drawn(settings, 2).queries, (std::vector<std::vector<uint32_t>>{{8}, {594}}));

  LoadSettings multi = order_settings(LoadScenario::kMultiStream);
  EXPECT_EQ(drawn(multi, 2).queries, (std::vector<std::vector<uint32_t>>{{678, 266, 573, 278, 241, 816, 958, 576},
                                                                         {935, 222, 123, 954, 24, 488, 1008, 889}}));
  LoadSettings accuracy = order_settings(LoadScenario::kSingleStream);
  accuracy.mode = LoadMode::kAccuracy;
  EXPECT_EQ(drawn(accuracy, 4).queries, (std::vector<std::vector<uint32_t>>{{296}, {844}, {285}, {544}}));
}

TEST(QueryOrder, SameSeedsSameOrder) {
  for (const LoadScenario scenario : {LoadScenario::kSingleStream, LoadScenario::kServer, LoadScenario::kMultiStream}) {
    const LoadSettings settings = order_settings(scenario);
    EXPECT_EQ(drawn(settings, 200).queries, drawn(settings, 200).queries);
    LoadSettings other = settings;
    other.seeds = seeds_from(5);
    EXPECT_NE(drawn(settings, 200).queries, drawn(other, 200).queries);
  }
}

TEST(QueryOrder, MultiStreamTakesNeighbours) {
  const LoadSettings settings = order_settings(LoadScenario::kMultiStream);
  const std::vector<uint32_t> loaded = sample_sets(settings).front();
  for (const auto& query : drawn(settings, 100).queries) {
    ASSERT_EQ(query.size(), 8u);
    const auto at = static_cast<size_t>(std::find(loaded.begin(), loaded.end(), query[0]) - loaded.begin());
    for (size_t i = 0; i < query.size(); ++i) EXPECT_EQ(query[i], loaded[(at + i) % loaded.size()]);
  }
}

TEST(QueryOrder, OfflineIsOneQueryOfWhatIsExpected) {
  LoadSettings settings = order_settings(LoadScenario::kOffline);
  settings.target_qps = 100000;
  const Drawn all = drawn(settings);
  ASSERT_EQ(all.queries.size(), 1u);
  EXPECT_EQ(all.queries[0].size(), 11000u);  // 1.1 x 0.1 s x 100000/s
  const std::vector<uint32_t> loaded = sample_sets(settings).front();
  for (size_t i = 0; i < all.queries[0].size(); ++i) EXPECT_EQ(all.queries[0][i], loaded[i % 1024]);
}

TEST(QueryOrder, EqualIssueAsksEachAsOften) {
  for (const LoadScenario scenario : {LoadScenario::kServer, LoadScenario::kOffline}) {
    LoadSettings settings = order_settings(scenario);
    settings.equal_issue = true;
    settings.min_queries = 3000;
    std::map<uint32_t, int> counts;
    for (const auto& query : drawn(settings).queries) {
      for (const uint32_t index : query) ++counts[index];
    }
    EXPECT_EQ(counts.size(), 1024u);
    for (const auto& [index, count] : counts) EXPECT_EQ(count, counts.begin()->second);
  }
}

TEST(QueryOrder, AccuracyTakesEachOnce) {
  for (const LoadScenario scenario : {LoadScenario::kSingleStream, LoadScenario::kServer, LoadScenario::kOffline}) {
    LoadSettings settings = order_settings(scenario);
    settings.mode = LoadMode::kAccuracy;
    std::set<uint32_t> seen;
    size_t count = 0;
    for (const auto& query : drawn(settings).queries) {
      seen.insert(query.begin(), query.end());
      count += query.size();
    }
    EXPECT_EQ(seen.size(), 1024u);
    EXPECT_EQ(count, 1024u);
  }
}

TEST(QueryOrder, SetsArePartsOfTheShuffledDataSet) {
  LoadSettings settings = order_settings(LoadScenario::kServer);
  settings.mode = LoadMode::kAccuracy;
  settings.loaded_samples = 1000;
  const auto sets = sample_sets(settings);
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0].size(), 1000u);
  EXPECT_EQ(sets[1].size(), 24u);
  settings.mode = LoadMode::kPerformance;
  const auto one = sample_sets(settings);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(*std::max_element(one[0].begin(), one[0].end()), 999u);
}

}  // namespace
}  // namespace perfcast::ai
