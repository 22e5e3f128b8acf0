#include "ai/serving/drawn_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/statistics.h"

namespace perfcast::ai {
namespace {

using testing::ElementsAre;

std::vector<double> gaps_of(const ServingTrace& trace) {
  std::vector<double> gaps;
  for (size_t i = 1; i < trace.requests.size(); ++i) {
    gaps.push_back(trace.requests[i].arrival_s - trace.requests[i - 1].arrival_s);
  }
  return gaps;
}

TEST(DrawnTrace, WithoutSpreadAndBurstAllIsEven) {
  const ServingTrace trace =
      draw_trace({.requests = 3, .prompt_tokens = 100, .output_tokens = 7, .rate_per_s = 4, .burst = 0});
  ASSERT_EQ(trace.requests.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(trace.requests[i].arrival_s, 0.25 * static_cast<double>(i));
    EXPECT_EQ(trace.requests[i].prompt_tokens, 100);
    EXPECT_EQ(trace.requests[i].output_tokens, 7);
    EXPECT_EQ(trace.requests[i].prefix.count, 0u);
  }
  EXPECT_DOUBLE_EQ(draw_trace({.requests = 2}).requests[1].arrival_s, 0);
}

TEST(DrawnTrace, HasTheMeansAndSpreadsThatWereAskedFor) {
  for (const double burst : {0.5, 1.0, 4.0}) {
    const ServingTrace trace =
        draw_trace({.requests = 100000, .prompt_tokens = 500, .log_spread = 0.8, .rate_per_s = 20, .burst = burst});
    const std::vector<double> gaps = gaps_of(trace);
    EXPECT_NEAR(mean(gaps), 0.05, 0.001);
    EXPECT_NEAR(std::pow(standard_deviation(gaps) / 0.05, 2), burst, 0.06 * burst + 0.02);
    std::vector<double> prompts, logs;
    for (const ServingRequest& request : trace.requests) {
      prompts.push_back(static_cast<double>(request.prompt_tokens));
      logs.push_back(std::log(prompts.back()));
    }
    EXPECT_NEAR(mean(prompts), 500, 8);
    EXPECT_NEAR(standard_deviation(logs), 0.8, 0.02);
  }
}

TEST(DrawnTrace, OneSeedGivesOneTrace) {
  const TraceShape shape{.requests = 50, .log_spread = 1, .rate_per_s = 3, .seed = 7};
  TraceShape other = shape;
  other.seed = 8;
  const ServingTrace a = draw_trace(shape), b = draw_trace(shape), c = draw_trace(other);
  int differ = 0;
  for (size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(a.requests[i].arrival_s, b.requests[i].arrival_s);
    EXPECT_EQ(a.requests[i].prompt_tokens, b.requests[i].prompt_tokens);
    differ += a.requests[i].prompt_tokens != c.requests[i].prompt_tokens ? 1 : 0;
  }
  EXPECT_GT(differ, 40);
}

TEST(DrawnTrace, ATurnHoldsWhatWasSaidBefore) {
  const ServingTrace trace = draw_trace({.requests = 5,
                                         .prompt_tokens = 40,
                                         .output_tokens = 8,
                                         .rate_per_s = 1,
                                         .burst = 0,
                                         .turns = 3,
                                         .think_s = 2,
                                         .shared_tokens = 32});
  ASSERT_EQ(trace.requests.size(), 5u);
  std::vector<int64_t> prompts, after;
  for (const ServingRequest& request : trace.requests) {
    prompts.push_back(request.prompt_tokens);
    after.push_back(request.after);
  }
  EXPECT_THAT(prompts, ElementsAre(40, 88, 136, 40, 88));
  EXPECT_THAT(after, ElementsAre(-1, 0, 1, -1, 3));
  EXPECT_DOUBLE_EQ(trace.requests[1].arrival_s, 2);
  EXPECT_DOUBLE_EQ(trace.requests[3].arrival_s, 1);
  const auto blocks = [&](size_t i) {
    const auto prefix = trace.prefix_of(trace.requests[i]);
    return std::vector<uint64_t>(prefix.begin(), prefix.end());
  };
  const uint64_t own = uint64_t{1} << 40;
  EXPECT_THAT(blocks(0), ElementsAre(0, 1, own));  // 48 tokens with the output
  EXPECT_THAT(blocks(1), ElementsAre(0, 1, own, own + 1, own + 2, own + 3));
  EXPECT_EQ(blocks(2).size(), 8u);  // nobody reads what it says
  EXPECT_THAT(blocks(3), ElementsAre(0, 1, own + 6));
}

TEST(DrawnTrace, AllShareAPrefix) {
  const ServingTrace trace = draw_trace({.requests = 2, .prompt_tokens = 100, .shared_tokens = 50});
  EXPECT_EQ(trace.requests[0].prefix.count, 3u);  // whole blocks
  EXPECT_EQ(trace.requests[1].prefix.begin, trace.requests[0].prefix.begin);
  EXPECT_EQ(trace.hashes.size(), 3u);
}

}  // namespace
}  // namespace perfcast::ai
