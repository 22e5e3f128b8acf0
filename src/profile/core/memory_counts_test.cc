#include "profile/core/memory_counts.h"

#include <gtest/gtest.h>

namespace perfcast {
namespace {

// 300 cycles to memory, 10 lines under way.
CoreDesign plain_design() {
  CoreDesign design;
  design.name = "plain";
  design.l2_bytes = 1 << 20;
  design.l3_bytes = 32 << 20;
  design.memory_ns = 100;
  design.clock_hz = 3e9;
  design.misses = 10;
  return design;
}

TEST(NearestSimulatedCache, IsByRatio) {
  EXPECT_EQ(nearest_simulated_cache(48 << 10), "48k");
  EXPECT_EQ(nearest_simulated_cache(1.25 * (1 << 20)), "1m");
  EXPECT_EQ(nearest_simulated_cache(480.0 * (1 << 20)), "64m");
  EXPECT_EQ(nearest_simulated_cache(1), "32k");
}

TEST(MemoryCounts, KeepsWhatIsNeeded) {
  const MetricValues counters = {
      {"instructions_count", 1000}, {"miss_32m_random_count", 10}, {"miss_32m_count", 20}, {"loads_count", 300}};
  const MetricValues expected = {{"instructions_count", 1000}, {"miss_32m_random_count", 10}};
  EXPECT_EQ(memory_counts(counters), expected);
  EXPECT_DOUBLE_EQ(*random_reads_of_memory(counters, plain_design()), 10);
  EXPECT_DOUBLE_EQ(*least_memory_cycles(counters, plain_design()), 300);
  EXPECT_FALSE(least_memory_cycles({}, plain_design()));
}

// A phase of random reads that no piece saw: ten in a thousand instructions take 300 cycles or more.
TEST(MemoryCounts, RaiseMemoryThatPiecesMissed) {
  const MetricValues counts = {{"instructions_count", 1000}, {"miss_32m_random_count", 10}};
  double cycles = 500;
  CoreBoundRatios ratios = {{"L1", 0.75}, {"width", 0.25}};
  ASSERT_TRUE(raise_memory(counts, plain_design(), cycles, ratios));
  EXPECT_DOUBLE_EQ(cycles, 800);
  EXPECT_DOUBLE_EQ(ratios["memory"], 0.375);
  EXPECT_DOUBLE_EQ(ratios["L1"], 0.46875);
  EXPECT_DOUBLE_EQ(ratios["width"], 0.15625);
}

TEST(MemoryCounts, LeaveAloneWhatAgrees) {
  const auto raised = [](double reads, CoreBoundRatios ratios) {
    const CoreBoundRatios before = ratios;
    double cycles = 500;
    const bool changed =
        raise_memory({{"instructions_count", 1000}, {"miss_32m_random_count", reads}}, plain_design(), cycles, ratios);
    EXPECT_EQ(changed, cycles != 500);
    EXPECT_EQ(changed, ratios != before);
    return changed;
  };
  EXPECT_FALSE(raised(10, {{"memory", 0.6}, {"L1", 0.4}}));                // the pieces say it all
  EXPECT_FALSE(raised(10, {{"memory", 0.3}, {"TLB", 0.2}, {"L1", 0.5}}));  // walks are waited for with it
  EXPECT_FALSE(raised(10, {{"memory", 0.42}, {"L1", 0.58}}));              // within a factor of 1.5
  EXPECT_FALSE(raised(0.5, {{"L1", 1}}));                                  // 15 of 515 cycles
  EXPECT_TRUE(raised(1, {{"L1", 1}}));                                     // 30 of 530
}

}  // namespace
}  // namespace perfcast
