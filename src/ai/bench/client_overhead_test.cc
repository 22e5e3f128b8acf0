#include "ai/bench/client_overhead.h"

#include <gtest/gtest.h>

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
  // A slow model: more requests than it had, in answers that end within half a second.
  report.summary.samples_per_s = 0.5;
  report.result.tokens = 10'000;
  report.summary.tpot.p50 = 100'000'000;
  request = overhead_request_of(report);
  EXPECT_DOUBLE_EQ(request.rate_per_s, 100);
  EXPECT_EQ(request.pieces, 64);
  EXPECT_NEAR(request.gap_s, 0.5 / 63, 1e-12);
  // A fast one.
  report.summary.samples_per_s = 1e6;
  request = overhead_request_of(report);
  EXPECT_DOUBLE_EQ(request.rate_per_s, 5000);
  EXPECT_EQ(request.pieces, 10);
}

}  // namespace
}  // namespace perfcast::ai
