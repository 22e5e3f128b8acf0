#include "place/workload/product_on_cpu.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ai/latency/model/roofline_shares.h"
#include "place/workload/testing/place_devices.h"

namespace perfcast::place {
namespace {

TEST(CpuRate, FollowsTheDesignAndItsFlags) {
  ai::CpuFacts facts = testing::round_cpu().facts;  // Zen 3
  EXPECT_EQ(cpu_rate(facts, ai::Precision::kFp32).flops_per_cycle, 32);
  EXPECT_EQ(cpu_rate(facts, ai::Precision::kBf16).computed_in, ai::Precision::kFp32);
  EXPECT_EQ(cpu_rate(facts, ai::Precision::kInt8).computed_in, ai::Precision::kFp32);
  facts.vendor = "Intel";
  facts.cpu_family = 6;
  facts.model = 143;  // Sapphire Rapids
  facts.flags = {"avx2", "avx512f", "amx"};
  EXPECT_EQ(cpu_rate(facts, ai::Precision::kFp32).flops_per_cycle, 64);
  EXPECT_EQ(cpu_rate(facts, ai::Precision::kBf16).flops_per_cycle, 1024);
  EXPECT_EQ(cpu_rate(facts, ai::Precision::kBf16).share, kAmxShare);
  EXPECT_EQ(cpu_rate(facts, ai::Precision::kInt8).flops_per_cycle, 2048);
  EXPECT_EQ(cpu_rate(facts, ai::Precision::kFp16).computed_in, ai::Precision::kFp32);  // the units take bf16
}

TEST(BusyClock, LiesBetweenBaseAndHighest) {
  EXPECT_DOUBLE_EQ(busy_clock_hz(2e9, 4.5e9), 3e9);
  EXPECT_DOUBLE_EQ(busy_clock_hz(2e9, 2e9), 2.4e9);  // what kernels in virtual machines call the maximum
  EXPECT_DOUBLE_EQ(busy_clock_hz(2e9, kUnknown), 2.4e9);
  EXPECT_DOUBLE_EQ(busy_clock_hz(kUnknown, 2.5e9), 2.5e9);
  EXPECT_TRUE(std::isnan(busy_clock_hz(kUnknown, kUnknown)));
}

TEST(ProductOnCpu, LargeOnesUseAllCoresAtTheirShareOfThePeak) {
  const PlaceCpu cpu = testing::round_cpu();
  const double flops = 2e12, bytes = 1e8;
  const CpuProductTime time = product_on_cpu(cpu.facts, cpu.clock_hz, ai::Precision::kFp32, flops, bytes);
  EXPECT_EQ(time.threads, 16);
  EXPECT_EQ(time.bound, PlaceBound::kCompute);
  EXPECT_NEAR(time.seconds, flops / (16 * 32 * 2.5e9 * ai::kRooflineCompute) + kCpuThreadStart_s, 1e-9);
}

TEST(ProductOnCpu, FlatOnesAreBoundByMemory) {
  const PlaceCpu cpu = testing::round_cpu();
  const CpuProductTime time = product_on_cpu(cpu.facts, cpu.clock_hz, ai::Precision::kFp32, 1e8, 2e8);
  EXPECT_EQ(time.bound, PlaceBound::kMemory);
  EXPECT_NEAR(time.seconds, 2e8 / (1e11 * ai::kRooflineMemory) + kCpuThreadStart_s, 1e-9);
}

TEST(ProductOnCpu, TinyOnesStartNoThreads) {
  const PlaceCpu cpu = testing::round_cpu();
  const CpuProductTime time =
      product_on_cpu(cpu.facts, cpu.clock_hz, ai::Precision::kFp32, 2.0 * 16 * 16 * 16, 3.0 * 1024);
  EXPECT_EQ(time.threads, 1);
  EXPECT_EQ(time.bound, PlaceBound::kLaunch);
  EXPECT_LT(time.seconds, 2e-6);
}

TEST(ProductOnCpu, UnknownWithoutClockOrBandwidth) {
  PlaceCpu cpu = testing::round_cpu();
  EXPECT_TRUE(std::isnan(product_on_cpu(cpu.facts, kUnknown, ai::Precision::kFp32, 1e9, 1e6).seconds));
  cpu.facts.read_bytes_per_s = ai::unknown_bandwidth();
  EXPECT_TRUE(std::isnan(product_on_cpu(cpu.facts, 2e9, ai::Precision::kFp32, 1e9, 1e6).seconds));
}

}  // namespace
}  // namespace perfcast::place
