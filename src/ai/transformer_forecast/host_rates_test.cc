#include "ai/transformer_forecast/host_rates.h"

#include <gtest/gtest.h>

#include <cmath>

namespace perfcast::ai {
namespace {

TEST(HostRates, RatesLieBetweenThoseThatWereMeasured) {
  HostRates facts;
  EXPECT_TRUE(std::isnan(facts.read_bytes_per_s(1)));
  EXPECT_TRUE(std::isnan(facts.memory_bytes_per_s()));
  facts.read = {{100, 80}, {400, 20}, {800, 20}};
  EXPECT_EQ(facts.read_bytes_per_s(1), 80);
  EXPECT_EQ(facts.read_bytes_per_s(100), 80);
  EXPECT_NEAR(facts.read_bytes_per_s(200), 40, 1e-9);
  EXPECT_NEAR(facts.read_bytes_per_s(600), 20, 1e-9);
  EXPECT_EQ(facts.read_bytes_per_s(1e9), 20);
  EXPECT_EQ(facts.memory_bytes_per_s(), 20);
  EXPECT_EQ(facts.most_read_bytes(), 800);
}

TEST(HostRates, ThisMachineReadsAndComputes) {
  HostRateMeasurement measurement(2, 2 << 20);
  measurement.run_round();
  const HostRates facts = measurement.facts();
  ASSERT_EQ(facts.read.size(), 2u);
  for (const auto& [bytes, rate] : facts.read) EXPECT_GT(rate, 1e8);
  EXPECT_GT(facts.fp32_flops_per_s, 1e8);
}

}  // namespace
}  // namespace perfcast::ai
