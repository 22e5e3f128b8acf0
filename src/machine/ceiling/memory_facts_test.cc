#include "machine/ceiling/memory_facts.h"

#include <gmock/gmock.h>

namespace perfcast {
namespace {

TEST(MemoryFacts, FallWithTheDistanceOfTheMemory) {
  const MemoryFacts measured = measure_memory_facts();
  EXPECT_GE(measured.cpus_count, 1);
  EXPECT_GT(measured.took_s, 0);
  EXPECT_LT(measured.took_s, 60);
  const auto fact = [&](const char* name) {
    const auto found = measured.facts.find(name);
    return found == measured.facts.end() ? 0 : found->second;
  };
  // There may be no time or no memory for one; no measurement that was made may fail its own check.
  EXPECT_THAT(measured.notes, testing::Not(testing::Contains(testing::HasSubstr("came out wrong"))));
  if (!measured.notes.empty()) GTEST_SKIP() << measured.notes.front();
  EXPECT_GE(measured.facts.size(), 3U * 3 + 1);
  EXPECT_GT(fact("bwmem_rd_16kib_per_vcpu_bytes_per_s"), fact("bwmem_rd_256mb_per_vcpu_bytes_per_s"));
  EXPECT_GT(fact("bwmem_rd_256mb_per_vcpu_bytes_per_s"), 1e7);
  EXPECT_GE(1.1 * fact("bwmem_rd_16kib_per_vcpu_bytes_per_s"), fact("bwmem_rdwr_16kib_per_vcpu_bytes_per_s"));
  EXPECT_FALSE(measured.facts.contains("bwmem_rd_4mb_per_vcpu_bytes_per_s"));  // shared
  EXPECT_GT(fact("membench_latency_32kib_ns"), 0.3);
  EXPECT_LT(fact("membench_latency_32kib_ns"), 1e3);
}

TEST(RepeatedFact, IsTheBestThatAnotherReadingConfirms) {
  EXPECT_FALSE(repeated_fact({}, true));
  EXPECT_FALSE(repeated_fact({{100}}, true));
  EXPECT_EQ(repeated_fact({{100}, {95}}, true), 100);
  EXPECT_EQ(repeated_fact({{100}, {95}}, false), 95);
  EXPECT_FALSE(repeated_fact({{100}, {60}}, true));
  EXPECT_EQ(repeated_fact({{100}, {60}, {105}}, true), 105);
  EXPECT_EQ(repeated_fact({{20}, {100}, {97}, {300}}, true), 100);  // 300 came once
  // Others had the CPU: that both readings agree says nothing.
  EXPECT_FALSE(repeated_fact({{40, 0.5}, {41, 0.5}}, true));
  EXPECT_EQ(repeated_fact({{40, 0.5}, {100, 0.95}, {98, 1}}, true), 100);
}

}  // namespace
}  // namespace perfcast
