#include "ai/serving/serving_summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "ai/serving/drawn_trace.h"
#include "ai/serving/testing/toy_time.h"

namespace perfcast::ai {
namespace {

ServingSummary summary_of(const ServingTrace& trace, ServeOptions options,
                          const std::vector<LoadObjective>& objectives = {}) {
  options.limits.cache_tokens = 100000;
  const ToyTime times;
  const auto run = serve(trace, options, times);
  EXPECT_TRUE(run);
  return summarise(trace, options, *run, objectives);
}

TEST(ServingSummary, GivesExactFigures) {
  ServingTrace trace;
  trace.requests = {{.arrival_s = 0, .prompt_tokens = 100, .output_tokens = 3},
                    {.arrival_s = 1, .prompt_tokens = 200, .output_tokens = 1},
                    {.arrival_s = 2, .prompt_tokens = 200000, .output_tokens = 1}};
  LoadObjective first, token;
  first.ttft_s = 0.025;
  first.share = 0.3;
  token.tpot_s = 0.1;
  const ServingSummary summary = summary_of(trace, {}, {first, token});
  EXPECT_EQ(summary.requests, 3);
  EXPECT_EQ(summary.finished, 2);
  EXPECT_EQ(summary.refused, 1);
  EXPECT_EQ(summary.unfinished, 0);
  EXPECT_NEAR(summary.seconds, 1.030, 1e-12);
  EXPECT_NEAR(summary.output_tokens_per_s, 4 / 1.030, 1e-9);
  EXPECT_NEAR(summary.offered_per_s, 1, 1e-12);
  EXPECT_NEAR(summary.first_token.p50, 0.025, 1e-12);
  EXPECT_NEAR(summary.first_token.mean, 0.025, 1e-12);
  EXPECT_NEAR(summary.first_token.p90, 0.029, 1e-12);
  EXPECT_NEAR(summary.further_token.p50, 0.011, 1e-12);
  EXPECT_NEAR(summary.whole.mean, (0.042 + 0.030) / 2, 1e-12);
  EXPECT_NEAR(summary.busy_share, 0.072 / 1.030, 1e-12);
  EXPECT_NEAR(summary.mean_running, 1, 1e-12);
  ASSERT_EQ(summary.objectives.size(), 2u);
  EXPECT_EQ(summary.objectives[0].kept, 1);  // 20 ms; 30 ms; refused
  EXPECT_TRUE(summary.objectives[0].met);
  EXPECT_NEAR(summary.objectives[0].goodput_per_s, 1 / 1.030, 1e-9);
  EXPECT_EQ(summary.objectives[1].kept, 1);  // an answer of one token has no time per further one
  EXPECT_FALSE(summary.objectives[1].met);
  EXPECT_EQ(summary.pace, Pace::kKeepsUp);
}

TEST(ServingSummary, MovesEndsOfIntervals) {
  EXPECT_NEAR(moved_end(2, 8, 0.5), 4, 1e-12);
  EXPECT_NEAR(moved_end(8, 2, 2), 0.5, 1e-12);
  EXPECT_EQ(moved_end(0, 3, 0.5), 3);
  ServingSummary forecast, end;
  for (const auto& [summary, value] : {std::pair(&forecast, 1.0), std::pair(&end, 4.0)}) {
    summary->first_token = summary->further_token = summary->whole =
        summary->queued = {value, value, value, value, value};
    summary->gap_p95_s = summary->requests_per_s = summary->mean_running = value;
  }
  move_ends(forecast, 0.5, 2, end);
  EXPECT_NEAR(end.first_token.mean, 16, 1e-12);
  EXPECT_NEAR(end.first_token.p99, 16, 1e-12);
  EXPECT_NEAR(end.further_token.p50, 2, 1e-12);
  EXPECT_NEAR(end.whole.p90, 2, 1e-12);
  EXPECT_NEAR(end.gap_p95_s, 2, 1e-12);
  EXPECT_NEAR(end.requests_per_s, 2, 1e-12);
  EXPECT_EQ(end.queued.mean, 4);
  EXPECT_EQ(end.mean_running, 4);
}

// 20 tokens of output and 10 of prompt; 64 sequences at once come to some 40 requests/s.
Pace pace_at(double rate_per_s, int64_t requests, uint64_t seed = 1, double* growth = nullptr,
             int64_t max_sequences = 64) {
  ServeOptions options;
  options.limits.max_sequences = max_sequences;
  const TraceShape shape{
      .requests = requests, .prompt_tokens = 10, .output_tokens = 20, .rate_per_s = rate_per_s, .seed = seed};
  const ServingSummary summary = summary_of(draw_trace(shape), options);
  if (growth != nullptr) *growth = summary.growth_per_s;
  return summary.pace;
}

TEST(ServingSummary, KnowsALoadAboveCapacity) {
  double growth = 0;
  ServeOptions closed;
  closed.limits.max_sequences = 64;
  closed.concurrency = 64;
  const ServingSummary most =
      summary_of(draw_trace({.requests = 6000, .prompt_tokens = 10, .output_tokens = 20}), closed);
  EXPECT_EQ(most.pace, Pace::kNotAsked);
  EXPECT_TRUE(std::isnan(most.offered_per_s));
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_EQ(pace_at(5, 2000, seed), Pace::kKeepsUp) << seed;
    EXPECT_EQ(pace_at(30, 6000, seed), Pace::kKeepsUp) << seed;
    EXPECT_EQ(pace_at(100, 6000, seed, &growth), Pace::kFallsBehind) << seed;
    EXPECT_NEAR(growth, 100 - most.requests_per_s, 4);  // what comes and isn't done
    EXPECT_EQ(pace_at(100, 200, seed), Pace::kFallsBehind) << seed;
  }
}

TEST(ServingSummary, SaysThatALoadIsTooShort) {
  // All run at once, and none has ended when the last one comes.
  EXPECT_EQ(pace_at(100, 200, 1, nullptr, 256), Pace::kTooShort);
}

}  // namespace
}  // namespace perfcast::ai
