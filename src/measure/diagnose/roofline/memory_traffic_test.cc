#include "measure/diagnose/roofline/memory_traffic.h"

#include <gtest/gtest.h>

namespace perfcast::measure {
namespace {

TEST(MemoryTraffic, IsWhatMissesTheCachesInBetween) {
  Profile profile;
  profile.metrics = {{"miss_48k_count", 1000}, {"miss_2m_count", 100}, {"miss_32m_count", 10}};
  CacheSizes caches;
  caches.l1d_bytes = 48 << 10;
  caches.l2_bytes = 2 << 20;
  caches.l3_bytes = 30 << 20;
  const MemoryTraffic traffic = memory_traffic(profile, caches, 1);
  ASSERT_TRUE(traffic.is_known);
  EXPECT_DOUBLE_EQ(traffic.l2_bytes, 64 * 900);
  EXPECT_DOUBLE_EQ(traffic.l3_bytes, 64 * 90);
  EXPECT_DOUBLE_EQ(traffic.memory_bytes, 64 * 10);
  // A tenth was counted, and stretched to all by a rate that took it for a fifth.
  profile.partly_seen = {0.2, 0};
  EXPECT_DOUBLE_EQ(memory_traffic(profile, caches, 0.1).memory_bytes, 2 * 64 * 10);
  // Without a third level, what is beyond the second comes from memory.
  caches.l3_bytes.reset();
  EXPECT_DOUBLE_EQ(memory_traffic(profile, caches, 0.2).memory_bytes, 64 * 100);
}

TEST(MemoryTraffic, IsNotKnownWithoutCountsOrSizes) {
  Profile profile;
  CacheSizes caches;
  caches.l1d_bytes = 48 << 10;
  caches.l2_bytes = 2 << 20;
  EXPECT_FALSE(memory_traffic(profile, caches, 1).is_known);
  profile.metrics = {{"miss_48k_count", 1000}, {"miss_2m_count", 100}};
  EXPECT_TRUE(memory_traffic(profile, caches, 1).is_known);
  EXPECT_FALSE(memory_traffic(profile, CacheSizes(), 1).is_known);
}

}  // namespace
}  // namespace perfcast::measure
