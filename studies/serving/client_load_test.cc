#include "studies/serving/client_load.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <initializer_list>

namespace perfcast::ai::serving_study {
namespace {

const ClientLoad kLoad = {.most_concurrency = 2, .seconds = 100, .prompt_tokens = 10, .output_tokens = 11};

ServeRun run_of(std::initializer_list<std::array<double, 3>> times) {  // sent, first, last
  ServeRun run;
  for (const auto& [sent, first, last] : times) {
    RequestOutcome outcome;
    outcome.first_token_s = first;
    outcome.last_token_s = last;
    run.outcomes.push_back(outcome);
    run.sent_s.push_back(sent);
  }
  return run;
}

TEST(ClientLoad, ClientsComeOneAfterTheOther) {
  const ServingTrace trace = client_trace(kLoad);
  ASSERT_GT(trace.requests.size(), 4U);
  EXPECT_DOUBLE_EQ(trace.requests[0].arrival_s, 0);
  EXPECT_DOUBLE_EQ(trace.requests[1].arrival_s, 5);
  EXPECT_DOUBLE_EQ(trace.requests[2].arrival_s, 10);
  EXPECT_DOUBLE_EQ(trace.requests[3].arrival_s, 10);
}

TEST(ClientLoad, CountsWhatEndsAfterTheWarmUp) {
  // The first one began before it: half of its ten further tokens count.
  const Delivered delivered = delivered_of(run_of({{0, 2, 8}, {10, 20, 40}, {50, 90, 101}}), kLoad);
  EXPECT_DOUBLE_EQ(delivered.tokens_per_s, (5 + 11) / 95.0);
  EXPECT_DOUBLE_EQ(delivered.first_s, 6);      // of 2 and 10
  EXPECT_DOUBLE_EQ(delivered.further_s, 1.3);  // of 0.6 and 2
}

TEST(ClientLoad, TakesTheFirstOneWhereNoneEndsInTime) {
  const ServeRun run = run_of({{0, 20, 130}, {10, 20, 120}});
  EXPECT_TRUE(std::isnan(delivered_of(run, kLoad).tokens_per_s));
  const Delivered first = first_of(run, kLoad);
  EXPECT_DOUBLE_EQ(first.tokens_per_s, 11 / 110.0);
  EXPECT_DOUBLE_EQ(first.first_s, 10);
  EXPECT_DOUBLE_EQ(first.further_s, 10);
  EXPECT_TRUE(std::isnan(first_of({}, kLoad).tokens_per_s));
}

}  // namespace
}  // namespace perfcast::ai::serving_study
