#include "ai/serving/serving_loads.h"

#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

AskedLoads at_rates(std::vector<double> rates) {
  AskedLoads asked;
  asked.rates_per_s = std::move(rates);
  return asked;
}

TEST(ServingLoads, HaveAsManyRequestsAsTenMinutesBring) {
  const auto loads = ServingLoads(at_rates({1, 5, 1000})).all();
  ASSERT_TRUE(loads);
  ASSERT_EQ(loads->size(), 3U);
  EXPECT_EQ((*loads)[0].words, "1 request/s");
  EXPECT_EQ((*loads)[0].trace().requests.size(), 1000U);  // the least
  EXPECT_EQ((*loads)[1].words, "5 requests/s");
  EXPECT_EQ((*loads)[1].trace().requests.size(), 3000U);
  EXPECT_EQ((*loads)[2].trace().requests.size(), 100'000U);  // the most
}

TEST(ServingLoads, OutliveWhatMadeThem) {
  std::vector<ServingLoad> loads;
  {
    AskedLoads asked;
    asked.clients = {3};
    asked.requests = 7;
    loads = *ServingLoads(asked).all();
  }
  ASSERT_EQ(loads.size(), 1U);
  EXPECT_EQ(loads[0].concurrency, 3);
  EXPECT_EQ(loads[0].words, "3 clients");
  EXPECT_EQ(loads[0].trace().requests.size(), 7U);
}

TEST(ServingLoads, TakeATraceAtItsOwnTimesOrAtARate) {
  AskedLoads asked;
  asked.trace_name = "t.csv";
  for (int i = 0; i < 4; ++i)
    asked.trace.requests.push_back({.arrival_s = 10.0 * i, .prompt_tokens = 5, .output_tokens = 2});
  asked.requests = 3;
  asked.in_flight = 2;
  const auto own = ServingLoads(asked).all();
  ASSERT_TRUE(own);
  EXPECT_EQ((*own)[0].words, "the requests of t.csv, at most 2 under way");
  EXPECT_EQ((*own)[0].most_in_flight, 2);
  const ServingTrace trace = (*own)[0].trace();
  ASSERT_EQ(trace.requests.size(), 3U);
  EXPECT_EQ(trace.requests[2].arrival_s, 20);
  asked.rates_per_s = {100};
  const auto fast = ServingLoads(asked).all();
  ASSERT_TRUE(fast);
  EXPECT_LT((*fast)[0].trace().requests.back().arrival_s, 5);
}

TEST(ServingLoads, RefuseWhatCanNotBe) {
  EXPECT_EQ(ServingLoads(AskedLoads()).all().error().message, "no load is named");
  AskedLoads both = at_rates({1});
  both.clients = {1};
  EXPECT_EQ(ServingLoads(both).all().error().where, "concurrency");
  AskedLoads limited;
  limited.clients = {1};
  limited.in_flight = 1;
  EXPECT_EQ(ServingLoads(limited).all().error().where, "most_in_flight");
  AskedLoads long_ones = at_rates({1000});
  long_ones.shape.turns = 1000;
  long_ones.shape.prompt_tokens = 1 << 20;
  EXPECT_EQ(ServingLoads(long_ones).all().error().where, "requests");
}

}  // namespace
}  // namespace perfcast::ai
