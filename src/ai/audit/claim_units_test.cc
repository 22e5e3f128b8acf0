#include "ai/audit/claim_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perfcast::ai {
namespace {

TEST(ClaimUnits, HalfAUnitOfTheLastDigit) {
  EXPECT_DOUBLE_EQ(half_unit_of(5.28), 0.005);
  EXPECT_DOUBLE_EQ(half_unit_of(478890), 5);
  EXPECT_DOUBLE_EQ(half_unit_of(7), 0.5);
  EXPECT_DOUBLE_EQ(half_unit_of(0.58), 0.005);
  EXPECT_DOUBLE_EQ(half_unit_of(90669), 0.5);
  EXPECT_DOUBLE_EQ(half_unit_of(1e30), 5e29);
  EXPECT_EQ(half_unit_of(0), 0);
}

TEST(ClaimUnits, BelongToAMetric) {
  EXPECT_EQ(claim_unit_scale(ClaimMetric::kLatency, "ms"), 1e-3);
  EXPECT_EQ(claim_unit_scale(ClaimMetric::kFlops, "TOP/s"), 1e12);
  EXPECT_EQ(claim_unit_scale(ClaimMetric::kLatency, "tokens/s"), std::nullopt);
  EXPECT_EQ(claim_unit_scale(ClaimMetric::kTokensPerS, "tokens per second"), std::nullopt);
  EXPECT_EQ(claim_metric_named("token_time"), ClaimMetric::kTokenTime);
  EXPECT_EQ(claim_metric_named("speed"), std::nullopt);
  EXPECT_EQ(claim_text(ClaimMetric::kFlops, 2.603e13), "26 TFLOP/s");
}

}  // namespace
}  // namespace perfcast::ai
