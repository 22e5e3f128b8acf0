#include "ai/bench/client_overhead.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace perfcast::ai {
namespace {

TEST(ClientOverhead, IsWhatComesBeyondTheEndpointsOwnTime) {
  OverheadRequest request;
  request.rate_per_s = 200;
  request.pieces = 5;
  request.seconds_s = 0.3;
  const auto overhead = measure_overhead(request);
  ASSERT_TRUE(overhead) << overhead.error().message;
  EXPECT_GE(overhead->first_token.count, 30);
  EXPECT_GT(overhead->first_token.p50, 0);
  EXPECT_GT(overhead->latency.p50, 0);
  // The answers take 40 ms each, none of which is the client's.
  EXPECT_LT(overhead->latency.p50, 30'000'000);
}

TEST(ClientOverhead, IsMeasuredLikeTheRun) {
  BenchReport report;
  report.result.answered = 10;
  report.result.tokens = 200;
  report.summary.samples_per_s = 300;
  report.summary.tpot.count = 10;
  report.summary.tpot.p50 = 5'000'000;
  OverheadRequest request = overhead_request_of(report);
  EXPECT_DOUBLE_EQ(request.rate_per_s, 300);
  EXPECT_EQ(request.pieces, 20);
  EXPECT_DOUBLE_EQ(request.gap_s, 0.005);
  EXPECT_FALSE(request.is_lighter);
  // A slow model: more requests than it had, in answers that end within half a second.
  report.summary.samples_per_s = 0.5;
  report.result.tokens = 10'000;
  report.summary.tpot.p50 = 100'000'000;
  request = overhead_request_of(report);
  EXPECT_DOUBLE_EQ(request.rate_per_s, 100);
  EXPECT_EQ(request.pieces, 64);
  EXPECT_NEAR(request.gap_s, 0.5 / 63, 1e-12);
  EXPECT_TRUE(request.is_lighter);
  // Of its tokens alone; of their gaps alone.
  report.summary.tpot.p50 = 1'000'000;
  EXPECT_TRUE(overhead_request_of(report).is_lighter);
  report.result.tokens = 100;
  EXPECT_FALSE(overhead_request_of(report).is_lighter);
  report.summary.tpot.p50 = 100'000'000;
  EXPECT_TRUE(overhead_request_of(report).is_lighter);
  // A fast one.
  report.result.tokens = 10'000;
  report.summary.samples_per_s = 1e6;
  request = overhead_request_of(report);
  EXPECT_DOUBLE_EQ(request.rate_per_s, 5000);
  EXPECT_EQ(request.pieces, 10);
  EXPECT_TRUE(request.is_lighter);
}

TEST(ClientOverhead, IsABoundOnlyOfALoadLikeTheRuns) {
  ClientOverhead overhead;
  overhead.rate_per_s = 100;
  overhead.pieces = 64;
  EXPECT_EQ(overhead_text(overhead).substr(0, 13), "adds at most ");
  overhead.is_lighter = true;
  const std::string text = overhead_text(overhead);
  EXPECT_EQ(text.substr(0, 11), "adds about ");
  EXPECT_TRUE(text.ends_with(", 64 pieces (less load than the run)")) << text;
  EXPECT_EQ(overhead_json(overhead)["lighter_than_run"], true);
}

}  // namespace
}  // namespace perfcast::ai
